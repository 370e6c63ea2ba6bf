"""Sphinx builds the site from this folder: ``scripts/docs``."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "scripts"), str(HERE.parent)]

from lib.site_pages import write_pages  # noqa: E402
from sphinx.util.inspect import TypeAliasForwardRef  # noqa: E402

import balance  # noqa: E402

project = "balance"
copyright = "the authors of balance"
version = release = balance.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx-mathjax-offline"]
exclude_patterns = ["_build"]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
nb_execution_mode = "off"  # notebooks are executed by their test and by scripts/docs
suppress_warnings = ["myst.header"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("Array", "ArrayLike", "Contact", "Progress")}
TypeAliasForwardRef.__repr__ = lambda self: self.name  # in a union Sphinx writes out its class
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = f"balance {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False


def _plain_docstring(app, what, name, obj, options, lines):
    """Indented lines of a docstring are formulas and bars are norms: neither is markup."""
    found, formula = [], False
    for line in lines:
        indented = line.startswith("    ")
        if indented and not formula and not (found and found[-1].endswith("::")):
            found += ["", "::", ""]
        elif formula and not indented and line:
            found.append("")
        formula = indented or (formula and not line)
        found.append(line if indented else _escaped(line))
    lines[:] = found


def _escaped(line):
    parts = line.split("``")
    parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
    return "``".join(parts)


def setup(app):
    write_pages(HERE / "reference")
    app.connect("autodoc-process-docstring", _plain_docstring)
