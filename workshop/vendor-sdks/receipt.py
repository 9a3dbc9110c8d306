"""Checks the signature of a receipt with PyJWT: receipt.py reads {"jws", "jwks", "payload"} from the standard input.

Prints nothing if the signature is valid and covers this payload, and otherwise the problem.
"""

import json
import sys

import jwt

given = json.load(sys.stdin)
keys = jwt.PyJWKSet.from_dict(given["jwks"])
header = jwt.get_unverified_header(given["jws"])
try:
    content = jwt.PyJWS().decode(given["jws"], keys[header["kid"]].key, algorithms=["EdDSA"])
except jwt.InvalidTokenError as error:
    print(f"PyJWT: {error}")
else:
    if json.loads(content) != given["payload"]:
        print("PyJWT: the signature is valid, and signs something else")
