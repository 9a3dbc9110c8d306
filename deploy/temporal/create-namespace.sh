#!/bin/sh
# Creates the namespace, or updates its retention, and registers the search attributes. Idempotent. Runs in the
# admin-tools image, and reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE.
set -eu

# All are of type Keyword. A test compares this list with src/base/queues.ts.
search_attributes='
MediaModel
MediaChannel
MediaAccount
MediaStatus
MediaFailure
UpstreamTaskId
NeedsAttention
'

# How long closed workflows are kept, for support, reconciliation and replays.
retention="${TEMPORAL_RETENTION:-168h}"

# retry TRIES COMMAND…: repeats the command, because a server needs some seconds after its start to create namespaces.
retry() {
  tries="$1"
  shift
  until "$@"; do
    tries=$((tries - 1))
    if [ "$tries" -le 0 ]; then
      echo "gave up: $*" >&2
      exit 1
    fi
    sleep 2
  done
}

put_namespace() {
  if temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$retention"
  else
    temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$retention" \
      --description 'Mediary: one workflow per generation task'
  fi
}

# The first column of the listing is the name.
list_search_attributes() {
  temporal operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" >/tmp/search-attributes
}

is_registered() {
  awk -v name="$1" '$1 == name { found = 1 } END { exit !found }' /tmp/search-attributes
}

retry 60 temporal operator cluster health
retry 10 put_namespace
# Retries, because it takes a while until every part of the server knows a new namespace.
retry 30 list_search_attributes
for name in $search_attributes; do
  is_registered "$name" || retry 10 temporal operator search-attribute create \
    --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type Keyword
done
list_search_attributes
for name in $search_attributes; do
  is_registered "$name" || { echo "search attribute $name is missing" >&2; exit 1; }
done
echo "Namespace $TEMPORAL_NAMESPACE is ready: retention $retention, all search attributes registered."
