"""Checks a bill of materials with the standards' own packages.

Usage: check_sbom.py spdx|cyclonedx FILE; prints what is wrong and exits with 1.
"""

import sys


def spdx(path):
    from spdx_tools.spdx.parser.parse_anything import parse_file
    from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

    document = parse_file(path)
    found = validate_full_spdx_document(document)
    return [f"{message.validation_message} ({message.context.spdx_id})" for message in found]


def cyclonedx(path):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    with open(path, encoding="utf-8") as file:
        fault = JsonStrictValidator(SchemaVersion.V1_5).validate_str(file.read())
    return [] if fault is None else [str(fault)]


if __name__ == "__main__":
    faults = {"spdx": spdx, "cyclonedx": cyclonedx}[sys.argv[1]](sys.argv[2])
    print("\n".join(faults))
    sys.exit(1 if faults else 0)
