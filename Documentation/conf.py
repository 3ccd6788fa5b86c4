# SPDX-License-Identifier: GPL-2.0
# Sphinx's configuration, for scripts/package/docs.sh, which sets LINUX: the kernel's sources, whose
# kernel-doc and its extension are used, and TOP: the top of this tree.
import os
import sys

linux = os.environ["LINUX"]
top = os.environ["TOP"]
sys.path.insert(0, linux + "/Documentation/sphinx")

project = "callout"
author = copyright = "The callout developers"
version = release = open(top + "/VERSION").read().strip()
root_doc = "index"
exclude_patterns = ["man", "ABI", "lab"]
extensions = ["kerneldoc"]
kerneldoc_bin = linux + "/scripts/kernel-doc"
kerneldoc_srctree = top
kerneldoc_verbosity = 0
# What a kernel's types and attributes are is not in these documents.
nitpicky = False
c_id_attributes = ["__must_check", "__printf"]
highlight_language = "none"

html_theme = "alabaster"
html_theme_options = {
    "description": "Callouts for Linux, on a hashed timing wheel",
    "page_width": "60em",
    "sidebar_width": "14em",
    "fixed_sidebar": False,
    "show_powered_by": False,
}
html_static_path = ["style.css"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_copyright = False
