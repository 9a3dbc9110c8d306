#!/usr/bin/env bash
# Starts mongod as a member of a replica set with authentication, which requires a key file even with a single member.
# Writes that file from the environment to a tmpfs, and then runs the image's own entrypoint.
set -euo pipefail

key_file=/run/mongod/replica-set.key
umask 077
printf '%s\n' "$MONGODB_REPLICA_SET_KEY" >"$key_file"
chown mongodb:mongodb "$key_file"
chmod 400 "$key_file"
unset MONGODB_REPLICA_SET_KEY

exec docker-entrypoint.sh mongod --replSet rs0 --keyFile "$key_file" --bind_ip_all
