import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rawEnvironment } from '../../src/config/environment.ts';
import { LocalServerError } from '../../src/local/servers/local-options.ts';
import { reasonIn, runCommand } from '../../src/local/servers/run-command.ts';

const opensslTimeoutMs = 30_000;
const common = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];

/**
 * An authority of its own, a certificate for Temporal at `address`, and one for its clients, made with openssl; the variables
 * that name them to Temporal's server, and those of the gateway, which Temporal's command line knows, too.
 */
export async function makeCertificates(
  directory: string,
  address: string,
): Promise<Readonly<Record<string, string>>> {
  const folder = join(directory, 'certificates');
  await mkdir(folder, { recursive: true });
  const file = (name: string): string => join(folder, name);
  // Without the extensions of openssl's own file, which make every certificate an authority's: Temporal's core refuses those.
  await writeFile(file('openssl.cnf'), '[req]\ndistinguished_name = name\n[name]\n');
  const make = async (name: string, more: readonly string[]): Promise<void> => {
    const out = ['-subj', `/CN=${name}`, '-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
    const made = await runCommand(
      'openssl',
      ['req', '-config', file('openssl.cnf'), ...common, ...out, ...more],
      {
        environment: rawEnvironment(),
        timeoutMs: opensslTimeoutMs,
      },
    );
    if (!made.ok) throw new LocalServerError(`openssl: ${reasonIn(made.output)}`);
  };
  const issuer = ['-CA', file('authority.crt'), '-CAkey', file('authority.key')];
  const signed = [...issuer, '-addext', 'basicConstraints=CA:FALSE'];
  await make('authority', ['-addext', 'basicConstraints=critical,CA:TRUE']);
  await make('temporal', [...signed, '-addext', `subjectAltName=DNS:temporal,IP:${address}`]);
  await make('gateway', signed);
  return {
    TEMPORAL_TLS_REQUIRE_CLIENT_AUTH: 'true',
    TEMPORAL_TLS_SERVER_CA_CERT: file('authority.crt'),
    TEMPORAL_TLS_SERVER_CERT: file('temporal.crt'),
    TEMPORAL_TLS_SERVER_KEY: file('temporal.key'),
    TEMPORAL_TLS_FRONTEND_CERT: file('temporal.crt'),
    TEMPORAL_TLS_FRONTEND_KEY: file('temporal.key'),
    // The server's own calls to its parts and to its frontend know no host to compare with.
    TEMPORAL_TLS_INTERNODE_SERVER_NAME: 'temporal',
    TEMPORAL_TLS_FRONTEND_SERVER_NAME: 'temporal',
    TEMPORAL_TLS_CLIENT1_CA_CERT: file('authority.crt'),
    TEMPORAL_TLS_CERT: file('gateway.crt'),
    TEMPORAL_TLS_KEY: file('gateway.key'),
    TEMPORAL_TLS_CA: file('authority.crt'),
  };
}
