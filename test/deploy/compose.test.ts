import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { environmentNames, readEnvironment } from '../../src/config/environment.ts';
import { searchAttributeNames } from '../../src/base/queues.ts';
import {
  composeText,
  documentedNames,
  parseCompose,
  readCompose,
  readRepositoryFile,
  repositoryPath,
  secondsOf,
  variablesOf,
  withDefaults,
  withValues,
} from './compose-file.ts';
import type { ComposeService } from './compose-file.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const environmentExample = readRepositoryFile('.env.example');
const gatewayServices = ['api', 'worker'];

const isOnce = ({ restart }: ComposeService): boolean => restart.startsWith('on-failure');

function service(name: string): ComposeService {
  const found = compose.services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

function faulty(isFaulty: (service: ComposeService) => boolean): string[] {
  return services.filter(([, each]) => isFaulty(each)).map(([name]) => name);
}

describe('docker-compose.yml', () => {
  it('is a Compose file', () => {
    const fixture = readFileSync(repositoryPath('test/fixtures/compose-spec.json'), 'utf8');
    const { $schema, ...schema } = JSON.parse(fixture) as Record<string, unknown>;
    expect($schema).toBe('https://json-schema.org/draft-07/schema');
    const ajv = new Ajv({ allErrors: true, strict: false, validateFormats: false });
    const validate = ajv.compile(schema);
    validate(parseCompose());
    expect(validate.errors ?? []).toEqual([]);
    expect(validate({ services: { api: { imagee: 'x' } } })).toBe(false);
  });

  it('gives every service a pinned image', () => {
    expect(faulty(({ image }) => !/^[a-z/-]+:v?\d+\.\d+(\.\d+)?$/.test(withDefaults(image)))).toEqual([]);
  });

  it('gives every service that stays a health check, a restart policy and a memory limit', () => {
    const staying = (each: ComposeService): boolean => !isOnce(each);
    expect(faulty((each) => staying(each) && each.restart !== 'unless-stopped')).toEqual([]);
    expect(faulty((each) => staying(each) && each.healthcheck?.test[0] !== 'CMD')).toEqual([]);
    expect(faulty((each) => staying(each) && each.deploy === undefined)).toEqual([]);
    expect(faulty(isOnce)).toEqual(['mongodb-init', 'temporal-schema', 'temporal-namespace']);
  });

  it('rotates every log', () => {
    expect(faulty(({ logging }) => logging.options['max-size'] === undefined)).toEqual([]);
  });

  it('starts a service only once its dependencies are ready, without circular waits', () => {
    const reach = (name: string, before: readonly string[]): void => {
      expect(before).not.toContain(name);
      for (const [needed, { condition }] of Object.entries(service(name).depends_on)) {
        const expected = isOnce(service(needed)) ? 'service_completed_successfully' : 'service_healthy';
        expect({ name, needed, condition }).toEqual({ name, needed, condition: expected });
        reach(needed, [...before, name]);
      }
    };
    for (const [name] of services) reach(name, []);
    for (const name of gatewayServices) {
      expect(Object.keys(service(name).depends_on)).toEqual(
        expect.arrayContaining(['mongodb', 'mongodb-init', 'temporal', 'temporal-namespace']),
      );
    }
  });

  it('publishes the API and the web interfaces, all on the loopback address', () => {
    const published = services.flatMap(([name, { ports }]) =>
      ports.map((port) => [name, withDefaults(port)]),
    );
    expect(published).toEqual([
      ['api', '127.0.0.1:8080:8080'],
      ['temporal-ui', '127.0.0.1:8233:8080'],
      ['prometheus', '127.0.0.1:9090:9090'],
      ['grafana', '127.0.0.1:3000:3000'],
    ]);
    // Only Grafana requires a password, so no variable may publish these services on another IP address.
    for (const name of ['temporal-ui', 'prometheus', 'grafana'])
      expect(service(name).ports[0]).toMatch(/^127\.0\.0\.1:/);
  });

  it('starts Prometheus and Grafana only on request, with the rules and the dashboard', () => {
    const optional = services.filter(([, { profiles }]) => profiles.length > 0);
    expect(optional.map(([name, { profiles }]) => [name, profiles])).toEqual([
      ['prometheus', ['monitoring']],
      ['grafana', ['monitoring']],
    ]);
    const needed = services.flatMap(([name, each]) =>
      service(name).profiles.length > 0 ? [] : Object.keys(each.depends_on),
    );
    expect(needed.filter((name) => service(name).profiles.length > 0)).toEqual([]);
    const config = parse(readRepositoryFile('deploy/prometheus/prometheus.yaml'));
    const [mount = ''] = service('prometheus').volumes.filter((volume) => typeof volume === 'string');
    const [folder = '', inside = ''] = mount.split(':');
    for (const file of config.rule_files as string[])
      expect(existsSync(repositoryPath(file.replace(inside, folder)))).toBe(true);
    const scraped = (config.scrape_configs as { dns_sd_configs?: { names: string[]; port: number }[] }[])
      .flatMap(({ dns_sd_configs: found = [] }) => found)
      .flatMap(({ names, port }) => names.map((name) => [name, String(port)]));
    expect(scraped).toEqual(gatewayServices.map((name) => [name, service(name).environment['METRICS_PORT']]));
    const provider = readRepositoryFile('deploy/grafana/dashboards.yaml');
    expect(provider).toContain('path: /var/lib/grafana/dashboards');
    expect(readRepositoryFile('deploy/grafana/datasource.yaml')).toContain('http://prometheus:9090');
  });

  it('keeps databases on internal networks, and the database of Temporal away from the gateway', () => {
    for (const name of ['mongodb', 'postgresql', 'temporal']) {
      const open = service(name).networks.filter((network) => compose.networks[network]?.internal !== true);
      expect({ name, open }).toEqual({ name, open: [] });
    }
    const ofGateway = gatewayServices.flatMap((name) => service(name).networks);
    expect(service('postgresql').networks.filter((network) => ofGateway.includes(network))).toEqual([]);
  });

  it('mounts only existing files, and nothing of the repository for writing', () => {
    const volumes = services.flatMap(([, each]) => each.volumes);
    const written = volumes.filter((volume) => typeof volume !== 'string');
    const files = written.filter(({ type }) => type === 'bind');
    expect(files).toHaveLength(2);
    for (const file of files) expect(file).toMatchObject({ source: './gateway.yaml', read_only: true });
    const mounts = volumes.filter((volume) => typeof volume === 'string').map((volume) => volume.split(':'));
    const folders = mounts.filter(([source]) => source?.startsWith('./'));
    expect(folders.filter(([source, , mode]) => !isInRepository(source) || mode !== 'ro')).toEqual([]);
    const named = [
      ...mounts.filter((mount) => !folders.includes(mount)).map(([source]) => source),
      ...written.filter(({ type }) => type === 'volume').map(({ source }) => source),
    ];
    expect(new Set(named.filter((source) => source !== undefined))).toEqual(
      new Set(Object.keys(compose.volumes)),
    );
  });

  it('reads files of keys that have an example', () => {
    const files = new Set(services.flatMap(([, each]) => each.env_file));
    expect([...files].filter((path) => !existsSync(repositoryPath(`${path}.example`)))).toEqual([]);
    expect(faulty(({ env_file }) => env_file.length > 0)).toEqual(gatewayServices);
  });

  it('starts existing scripts', () => {
    const started = services.flatMap(([, { entrypoint = [] }]) =>
      entrypoint.filter((part) => part.startsWith('/deploy/')),
    );
    expect(started).toHaveLength(4);
    const missing = started.filter((script) => {
      const name = script.replace('/deploy/', '');
      return !['temporal', 'mongodb'].some((folder) =>
        existsSync(repositoryPath(`deploy/${folder}/${name}`)),
      );
    });
    expect(missing).toEqual([]);
  });

  it('hides the buttons that would end or repeat a task without the ledger', () => {
    expect(service('temporal-ui').environment).toMatchObject({
      TEMPORAL_WORKFLOW_TERMINATE_DISABLED: 'true',
      TEMPORAL_WORKFLOW_RESET_DISABLED: 'true',
      TEMPORAL_START_WORKFLOW_DISABLED: 'true',
      TEMPORAL_BATCH_ACTIONS_DISABLED: 'true',
    });
  });

  it('keeps the UI from fetching news, and lets the server accept calls without a password', () => {
    expect(service('temporal-ui').environment).toMatchObject({ TEMPORAL_DISABLE_NEWS_FETCH: 'true' });
    expect(service('temporal').environment).toMatchObject({ TEMPORAL_ALLOW_NO_AUTH: 'true' });
  });

  it('divides the history into at least 512 shards', () => {
    expect(Number(service('temporal').environment['NUM_HISTORY_SHARDS'])).toBeGreaterThanOrEqual(512);
  });
});

describe('the environment of production', () => {
  const variables = variablesOf(composeText);
  const documented = documentedNames(environmentExample);

  it('has a default, or requires a value, for every variable of docker-compose.yml', () => {
    expect(variables.length).toBeGreaterThan(20);
    expect(variables.filter(({ kind }) => kind === 'bare')).toEqual([]);
  });

  it('documents each of them', () => {
    expect(variables.map(({ name }) => name).filter((name) => !documented.has(name))).toEqual([]);
    const required = variables.filter(({ kind }) => kind === 'required').map(({ name }) => name);
    const empty = [...environmentExample.matchAll(/^([A-Z_]+)=$/gm)].map(([, name]) => name);
    expect(empty).toEqual(expect.arrayContaining(required));
  });

  it('shows the defaults in docker-compose.yml', () => {
    const defaulted = variables.filter(({ fallback }) => fallback !== '');
    const shown = defaulted.map(({ name }) => [name, shownDefault(name)]);
    expect(shown).toEqual(defaulted.map(({ name, fallback }) => [name, fallback]));
  });

  it('passes on every variable that the gateway reads, except those of another Temporal and of local mode', () => {
    const [own = '', other = ''] = environmentExample.split('# ---- For another Temporal');
    const offered = documentedNames(own);
    const notHere = documentedNames(other);
    const fixed = /Set by docker-compose\.yml itself.*\n# (.*)/.exec(own)?.[1]?.split(' ') ?? [];
    const isPassed = (name: string): boolean =>
      gatewayServices.some((each) => name in service(each).environment);
    expect(environmentNames.filter((name) => !isPassed(name) && !notHere.has(name))).toEqual([]);
    expect(
      environmentNames.filter((name) => isPassed(name) && !offered.has(name) && !fixed.includes(name)),
    ).toEqual([]);
    expect(environmentNames).toEqual(expect.arrayContaining([...fixed, ...notHere]));
  });

  it('shows the gateway’s defaults', () => {
    const ours = environmentNames.filter(
      (name) =>
        withDefaults(service('api').environment[name] ?? '') === '' && shownDefault(name) !== undefined,
    );
    const shown = Object.fromEntries(ours.map((name) => [name, shownDefault(name)]));
    expect(ours.length).toBeGreaterThan(0);
    expect(readEnvironment(shown)).toEqual(readEnvironment({}));
  });

  it('offers no variable that is never read', () => {
    const read = new Set([...environmentNames, ...variables.map(({ name }) => name)]);
    expect([...documented].filter((name) => !read.has(name))).toEqual([]);
  });

  it('is valid for the gateway as the file sets it', () => {
    const given = new Map([
      ['MONGODB_PASSWORD', 'a1'],
      ['SECRETS_KEY', Buffer.alloc(32).toString('base64')],
    ]);
    for (const name of gatewayServices) {
      const filled = Object.entries(service(name).environment).map(([key, value]) => [
        key,
        withValues(value, given),
      ]);
      expect(readEnvironment(Object.fromEntries(filled))).toMatchObject({
        HOST: '0.0.0.0',
        PORT: 8080,
        MONGODB_URI: 'mongodb://mediary:a1@mongodb:27017/mediary?replicaSet=rs0&authSource=mediary',
        TEMPORAL_ADDRESS: 'temporal:7233',
        PAYLOAD_ENCRYPTION: 'on',
      });
    }
  });

  it('passes passwords and tokens only to services that need them', () => {
    for (const name of gatewayServices) {
      const values = Object.values(service(name).environment).join(' ');
      expect(values).not.toMatch(/ROOT_PASSWORD|POSTGRES|REPLICA_SET_KEY/);
    }
    expect(service('worker').environment).not.toHaveProperty('ADMIN_TOKEN');
  });
});

function isInRepository(path: string | undefined): boolean {
  return path !== undefined && existsSync(repositoryPath(path));
}

function shownDefault(name: string): string | undefined {
  return new RegExp(`^# ${name}=(.+)$`, 'm').exec(environmentExample)?.[1];
}

describe('stopping', () => {
  it('lets a worker finish the longest submission', () => {
    const submitMs = numberIn('src/config/gateway-schema.ts', /submit_ms: [^,]*?default\(([\d_]+)\)/);
    const marginMs = numberIn('src/worker.ts', /shutdownMarginMs = ([\d_]+)/);
    const grace = secondsOf(withDefaults(service('worker').stop_grace_period ?? ''));
    expect(grace * 1000).toBeGreaterThan(submitMs + marginMs);
  });

  it('lets the API finish requests in flight', () => {
    const { environment, stop_grace_period } = service('api');
    const grace = secondsOf(withDefaults(stop_grace_period ?? ''));
    const seconds = (name: string) => Number(withDefaults(environment[name] ?? ''));
    expect(grace).toBeGreaterThan(seconds('SHUTDOWN_DRAIN_SECONDS') + seconds('SHUTDOWN_GRACE_SECONDS'));
  });

  function numberIn(path: string, pattern: RegExp): number {
    const found = pattern.exec(readRepositoryFile(path))?.[1];
    if (found === undefined) throw new Error(`${path} has no ${pattern.source}`);
    return Number(found.replaceAll('_', ''));
  }
});

describe('the namespace', () => {
  it('gets the search attributes that workflows set', () => {
    const script = readRepositoryFile('deploy/temporal/create-namespace.sh');
    const listed = /^search_attributes='\n([^']*)'$/m.exec(script)?.[1]?.trim().split('\n');
    expect(listed).toEqual([...searchAttributeNames]);
  });

  it('keeps closed workflows for at least three days', () => {
    const retention = withDefaults(service('temporal-namespace').environment['TEMPORAL_RETENTION'] ?? '');
    expect(Number(/^(\d+)h$/.exec(retention)?.[1])).toBeGreaterThanOrEqual(72);
  });
});
