import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError } from '../../src/local/servers/local-options.ts';
import { reasonIn, runCommand } from '../../src/local/servers/run-command.ts';

const opensslTimeoutMs = 30_000;
const tokenSeconds = 86_400;
const common = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

export interface Security {
  readonly server: Readonly<Record<string, string>>;
  readonly gateway: Readonly<Record<string, string>>;
  readonly operator: Readonly<Record<string, string>>;
}

export async function makeSecurity(
  directory: string,
  { address, namespace }: { readonly address: string; readonly namespace: string },
): Promise<Security> {
  const folder = join(directory, 'security');
  await mkdir(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  // Replaces openssl's own configuration, which would mark every certificate as a CA. Temporal's core rejects that.
  await writeFile(file('openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n');
  const make = async (name: string, more: readonly string[]): Promise<void> => {
    const out = ['-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
    const command = ['openssl', 'req', '-config', file('openssl.cnf'), ...common, ...out, ...more];
    const made = await runCommand(command, { environment: rawEnvironment() }, opensslTimeoutMs);
    if (!made.ok) throw new LocalServerError(`openssl: ${reasonIn(made.output)}`);
  };
  const issuer = ['-CA', file('authority.crt'), '-CAkey', file('authority.key')];
  const signed = [...issuer, '-addext', 'basicConstraints=CA:FALSE'];
  await make('authority', ['-addext', 'basicConstraints=critical,CA:TRUE']);
  await make('temporal', [...signed, '-addext', `subjectAltName=DNS:temporal,IP:${address}`]);
  await make('gateway', signed);
  const tokens = createTokens();
  await writeFile(file('keys.json'), tokens.keys);
  const client = {
    TEMPORAL_TLS_CERT: file('gateway.crt'),
    TEMPORAL_TLS_KEY: file('gateway.key'),
    TEMPORAL_TLS_CA: file('authority.crt'),
  };
  return {
    server: {
      TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
      TEMPORAL_TLS_SERVER_CA_CERT: file('authority.crt'),
      TEMPORAL_TLS_SERVER_CERT: file('temporal.crt'),
      TEMPORAL_TLS_SERVER_KEY: file('temporal.key'),
      TEMPORAL_TLS_FRONTEND_CERT: file('temporal.crt'),
      TEMPORAL_TLS_FRONTEND_KEY: file('temporal.key'),
      TEMPORAL_TLS_CLIENT1_CA_CERT: file('authority.crt'),
      // Internal calls of the server have no host name that could be compared with the certificate.
      TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'temporal',
      TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'temporal',
      TEMPORAL_AUTH_AUTHORIZER: 'default',
      TEMPORAL_AUTH_CLAIM_MAPPER: 'default',
      TEMPORAL_JWT_KEY_SOURCE1: `file://${file('keys.json')}`,
      // The server's own worker has no token, so it uses an internal frontend.
      USE_INTERNAL_FRONTEND: 'true',
      TEMPORAL_SERVICES: 'frontend,internal-frontend,history,matching,worker',
    },
    gateway: { ...client, TEMPORAL_API_KEY: tokens.sign('mediary', [`${namespace}:write`]) },
    operator: { ...client, TEMPORAL_API_KEY: tokens.sign('operator', ['temporal-system:admin']) },
  };
}

function createTokens() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const key = { ...publicKey.export({ format: 'jwk' }), kid: 'topology', alg: 'RS256', use: 'sig' };
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  return {
    keys: JSON.stringify({ keys: [key] }),
    sign(subject: string, permissions: readonly string[]): string {
      const expiresAt = Math.floor(Date.now() / 1000) + tokenSeconds;
      const signed = [
        encoded({ alg: 'RS256', typ: 'JWT', kid: key.kid }),
        encoded({ sub: subject, exp: expiresAt, permissions }),
      ].join('.');
      return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`;
    },
  };
}
