# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2154
# Two bridges with two links between them, which the spanning tree makes one, and a thousand groups
# that a host joins, of which one of them learns by snooping. Namespaces: h, a, b; the bridges are
# in the latter two. A port has three timers, a group on a port two.
#
#   h:h0 -- a:p0 [bridge] a:l0 -- b:m0 [bridge]
#                         a:l1 -- b:m1

groups=${CLIENTS_GROUPS:-1000}
# The groups of IPv6 that the devices themselves are in.
more=50

bridge() { /sbin/bridge "$@"; }

# Without their own addresses bridges have addresses of ports, and get others when the ports go.
make_bridges() {
	for host in h a b; do
		ip netns add $host || return 1
	done
	ip link add h0 netns h type veth peer name p0 netns a &&
		ip link add l0 netns a type veth peer name m0 netns b &&
		ip link add l1 netns a type veth peer name m1 netns b &&
		ip -n a link add br0 address 02:00:00:00:00:0a type bridge stp_state 1 \
			priority 4096 &&
		ip -n b link add br0 address 02:00:00:00:00:0b type bridge stp_state 1 \
			mcast_snooping 0 &&
		ip -n h address add 10.9.0.1/24 dev h0 &&
		ip -n b address add 10.9.0.2/24 dev br0 &&
		ip -n a link set p0 master br0 &&
		for i in 0 1; do
			ip -n a link set l$i master br0 && ip -n b link set m$i master br0 ||
				return 1
		done
	for device in h,h0 a,p0 a,l0 a,l1 b,m0 b,m1 a,br0 b,br0; do
		ip -n "${device%,*}" link set "${device#*,}" up || return 1
	done
}

# port HOST NAME STATE: it is in that state
port() {
	bridge -n "$1" link show dev "$2" | grep -q " state $3 "
}

pings() { /sbin/ip netns exec h ping -c 1 -W 2 10.9.0.2 > /tmp/said; }

# Each port that forwards has listened and learned, 15 seconds each: three of a, one of b.
check_tree() {
	clear_expired
	check "two bridges" quietly make_bridges
	sleep 10
	check "none forwards yet" eval "! pings"
	sleep 30
	check "one forwards" pings
	check "by one link" port b m0 forwarding
	check "the other is blocked" port b m1 blocking
	check "listened and learned" expired br_forward_delay_timer_expired 8 10
	check "hello each two seconds" expired br_hello_timer_expired 18 24
}

# The link stays up, but nothing comes.
check_silent_link() {
	clear_expired
	ip -n a link set l0 nomaster
	sleep 15
	check "not given up yet" expired br_message_age_timer_expired 0
	check "nothing arrives" eval "! pings"
	sleep 45
	check "given up after 20 seconds" expired br_message_age_timer_expired 1
	check "the other link forwards" pings
	check "that is it" port b m1 forwarding
	ip -n a link set l0 master br0
	# Until the tree is one again: the query of a bridge that comes back to it by the
	# other link is another querier's, and it asks no more for 255 seconds, while a
	# group is kept for 260 since its last answer.
	sleep 60
}

# memberships add|del
memberships() {
	awk -v what="$1" -v groups="$groups" 'BEGIN {
		for (i = 0; i < groups; i++)
			print "address", what, "239.1." int(i / 250) "." (i % 250 + 1) \
			      "/32 dev h0" (what == "add" ? " autojoin" : "")
	}' > /tmp/commands
	ip -n h -batch /tmp/commands
}

# known GROUPS: that many
known() {
	count=$(bridge -n a mdb show | grep -c "port p0 grp 239.1.") || :
	echo "# $count groups"
	[ "$count" -eq "$1" ]
}

querier() { ip -n a link set br0 type bridge mcast_querier "$1"; }

# A bridge asks each 125 seconds, hosts answer, and a group is kept for 260 seconds.
check_groups() {
	/sbin/ip netns exec h sh -c "echo $groups > /proc/sys/net/ipv4/igmp_max_memberships"
	check "ask for groups" querier 1
	check "join $groups" memberships add
	sleep 20
	check "each is known" known "$groups"
	clear_expired
	sleep 600
	check "and remembered, since it is asked for" known "$groups"
	check "none ran out" expired br_multicast_port_group_expired 0 $more
	check "asked each 125 seconds" expired br_ip4_multicast_query_expired 4 6
	check "ask no more" querier 0
	sleep 300
	check "each ran out" expired br_multicast_port_group_expired \
		"$groups" $((groups + more))
	check "is forgotten" known 0
}

# Of a group that is left the bridge asks whether another host is in it, for two seconds.
check_leaving() {
	check "leave" quietly memberships del
	querier 1
	check "join again" memberships add
	sleep 20
	check "each is known again" known "$groups"
	clear_expired
	check "leave them" quietly memberships del
	sleep 20
	check "each ran out soon" expired br_multicast_port_group_expired \
		"$groups" $((groups + more))
	check "and is forgotten" known 0
}

check_bridges_removal() {
	memberships add
	sleep 20
	check "known once more" known "$groups"
	for host in h a b; do
		ip netns delete $host
	done
	sleep 5
	clear_expired
	sleep 300
	check "no timer of bridges is left" expired 'br_.*' 0
	check "bridge.ko unloads" rmmod bridge
}

check "load bridge.ko" load_client bridge
check_tree
check_silent_link
check_groups
check_leaving
check_bridges_removal
