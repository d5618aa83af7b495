#!/bin/sh
# Creates the secrets that compose.yaml mounts, unless they exist. Run it once as root:
#
#   sh deploy/create-secrets.sh
#
# Then add the keys of your model providers to deploy/secrets/capstan.env.
set -eu
umask 077
cd "$(dirname "$0")"
mkdir -p secrets
cd secrets

random() {
  od -An -N24 -tx1 /dev/urandom | tr -d ' \n'
}

[ -e postgres-password ] || random >postgres-password
if [ ! -e capstan.env ]; then
  {
    echo "CAPSTAN_API_KEY=$(random)"
    echo "CAPSTAN_DATABASE=postgres://capstan:$(cat postgres-password)@database:5432/capstan"
  } >capstan.env
fi
# The user of the container must be able to read it.
chown 1000:1000 capstan.env
