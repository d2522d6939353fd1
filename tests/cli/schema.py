"""schema.py SCHEMA FILE...: every document, and every line of a journal, against the schema.

Exit 0 if all are valid, 1 if one is not, 77 where python3-jsonschema is missing. A file that ends
in .jsonl is a journal.
"""

import json
import sys

try:
    from jsonschema import Draft7Validator
except ImportError:
    sys.exit(77)


def main(schema_path, *paths):
    with open(schema_path, encoding="utf-8") as file:
        schema = json.load(file)
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    bad = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            texts = file.read().splitlines() if path.endswith(".jsonl") else [file.read()]
        if not texts:
            print(f"{path}: empty")
            bad += 1
        for number, text in enumerate(texts, 1):
            for error in validator.iter_errors(json.loads(text)):
                place = "/".join(map(str, error.absolute_path))
                print(f"{path}:{number}: {place}: {error.message[:200]}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
