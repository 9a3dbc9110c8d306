import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { environmentNames } from '../../src/config/environment.ts';
import {
  readCompose,
  readRepositoryFile,
  repositoryPath,
  secondsOf,
  variablesOf,
  withDefaults,
} from './compose-file.ts';
import type { ComposeService } from './compose-file.ts';

const folder = 'deploy/kubernetes';
const base = z.object({ resources: z.array(z.string()) }).parse(parse(read('base/kustomization.yaml')));
const objectFiles = base.resources.filter((resource) => resource.endsWith('.yaml'));

const named = z.looseObject({ name: z.string() });
const secretKey = z.object({ name: z.string(), key: z.string(), optional: z.boolean().optional() });
const variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.object({ secretKeyRef: secretKey }).optional(),
});
const container = z.looseObject({
  image: z.string(),
  args: z.array(z.string()).optional(),
  command: z.array(z.string()).optional(),
  envFrom: z.array(z.looseObject({ configMapRef: named.optional(), secretRef: named.optional() })),
  env: z.array(variable),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  startupProbe: z.unknown().optional(),
  readinessProbe: z.looseObject({ exec: z.object({ command: z.array(z.string()) }).optional() }).optional(),
  livenessProbe: z.unknown().optional(),
  resources: z.looseObject({ limits: z.looseObject({ memory: z.string() }) }),
  securityContext: z.unknown(),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
});
const pod = z.looseObject({
  terminationGracePeriodSeconds: z.number().optional(),
  securityContext: z.looseObject({ runAsUser: z.number() }),
  containers: z.tuple([container]),
  volumes: z.array(z.looseObject({ name: z.string() })),
});
const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({ template: z.looseObject({ spec: pod }).optional() }),
});

const objects = objectFiles.flatMap((file) =>
  parseAllDocuments(read(`base/${file}`)).map((document): unknown => document.toJS()),
);
const { services } = readCompose();
const settings = settingsIn(read('base/settings.env'));
const roles = ['api', 'worker'] as const;

function read(path: string): string {
  return readRepositoryFile(`${folder}/${path}`);
}

function settingsIn(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

function service(name: string): ComposeService {
  const found = services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`);
  return found;
}

function podOf(name: string): z.infer<typeof pod> {
  const found = objects
    .map((object) => objectSchema.parse(object))
    .find(({ metadata, spec }) => metadata.name === `mediary-${name}` && spec.template !== undefined);
  if (found?.spec.template === undefined) throw new Error(`${folder} has no pods of mediary-${name}`);
  return found.spec.template.spec;
}

const containerOf = (name: string) => podOf(name).containers[0];

function valuesOf(name: string): Map<string, string> {
  const own = containerOf(name).env.flatMap(({ name: key, value }) =>
    value === undefined ? [] : [[key, value] as const],
  );
  return new Map([...settings, ...own]);
}

function secretsOf(name: string): { readonly key: string; readonly optional: boolean }[] {
  return containerOf(name).env.flatMap(({ name: key, valueFrom }) => {
    if (valueFrom === undefined) return [];
    expect(valueFrom.secretKeyRef).toMatchObject({ name: 'mediary-secrets', key });
    return [{ key, optional: valueFrom.secretKeyRef.optional ?? false }];
  });
}

function secretsInCompose(name: string): string[] {
  const entries = Object.entries(service(name).environment);
  const isSecret = ([key, value]: [string, string]): boolean =>
    key === 'ADMIN_TOKEN' || variablesOf(value).some(({ kind }) => kind === 'required');
  return entries.filter(isSecret).map(([key]) => key);
}

describe('the objects', () => {
  it('are valid in Kubernetes 1.37', () => {
    // From kubernetes-validate 1.37.0 (PyPI, Apache-2.0), which is generated from Kubernetes' own OpenAPI document.
    // Contains only what these kinds refer to. Descriptions, and fields that only a cluster writes, are left out.
    // Unknown fields are rejected.
    const fixture: unknown = JSON.parse(
      readFileSync(repositoryPath('test/fixtures/kubernetes-1.37.json'), 'utf8'),
    );
    const ajv = new Ajv2020({ allErrors: true, strict: false, validateFormats: false });
    ajv.addSchema(z.record(z.string(), z.unknown()).parse(fixture), 'kubernetes');
    const problems = (object: unknown): unknown => {
      const { apiVersion, kind } = z.looseObject({ apiVersion: z.string(), kind: z.string() }).parse(object);
      const group = apiVersion.includes('/')
        ? apiVersion.replace(/(?:\.k8s\.io)?\//, '.')
        : `core.${apiVersion}`;
      const validate = ajv.getSchema(`kubernetes#/$defs/io.k8s.api.${group}.${kind}`);
      if (validate === undefined) return `${apiVersion} has no ${kind}`;
      return validate(object) === true ? [] : validate.errors;
    };
    expect(objects.length).toBeGreaterThan(5);
    for (const object of objects) expect(problems(object)).toEqual([]);
    const [api] = objects;
    expect(problems({ ...z.looseObject({}).parse(api), specc: {} })).not.toEqual([]);
  });

  it('name ConfigMaps and Secrets that a kustomization creates', () => {
    const made = ['base', 'example', '../temporal'].flatMap((path) =>
      [...read(`${path}/kustomization.yaml`).matchAll(/^ {2}- name: (\S+)$/gm)].map(([, name]) => name),
    );
    const text = objectFiles.map((file) => read(`base/${file}`)).join('\n');
    const referred = [...text.matchAll(/(?:configMap|Ref|KeyRef): \{ name: ([a-z-]+)/g)].map(
      ([, name]) => name,
    );
    expect(new Set(referred)).toEqual(new Set(made));
  });

  it('are restricted as in docker-compose.yml, under the user of the image', () => {
    const user = Number(/^USER (\d+)$/m.exec(readRepositoryFile('Dockerfile'))?.[1]);
    for (const name of [...roles, 'temporal-namespace']) {
      expect(podOf(name)).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: user },
      });
      expect(containerOf(name).securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    }
    for (const name of roles) expect(service(name)).toMatchObject({ cap_drop: ['ALL'], read_only: true });
  });
});

describe.each(roles)('the pods of the %s, as in docker-compose.yml', (name) => {
  it('run the same image with the same arguments and as much memory', () => {
    const { image, args, resources } = containerOf(name);
    expect(image).toBe(withDefaults(service(name).image));
    expect(args).toEqual(service(name).command);
    const memory = service(name).deploy?.resources.limits.memory;
    expect(resources.limits.memory).toBe(memory?.replace('g', 'Gi'));
  });

  it('have the same variables with the same values, and the same secrets', () => {
    const secrets = secretsInCompose(name);
    const { TEMPORAL_ADDRESS: _ofOverlay, TRUSTED_PROXIES: _ofIngress, ...rest } = service(name).environment;
    const set = Object.entries(rest)
      .filter(([key]) => !secrets.includes(key))
      .map(([key, value]) => [key, withDefaults(value)] as const)
      .filter(([, value]) => value !== '');
    const { TEMPORAL_RETENTION: _ofJob, ...values } = Object.fromEntries(valuesOf(name));
    expect(values).toEqual(Object.fromEntries(set));
    expect(secretsOf(name).filter(({ key }) => key !== 'TEMPORAL_API_KEY')).toEqual(
      expect.arrayContaining(secrets.map((key) => ({ key, optional: key === 'ADMIN_TOKEN' }))),
    );
    expect(secretsOf(name)).toHaveLength(secrets.length + 1);
    expect(containerOf(name).envFrom).toEqual([
      { configMapRef: { name: 'mediary-settings' } },
      { secretRef: { name: 'mediary-upstream-keys' } },
    ]);
  });

  it('have the same time to stop', () => {
    const grace = secondsOf(withDefaults(service(name).stop_grace_period ?? ''));
    expect(podOf(name).terminationGracePeriodSeconds).toBe(grace);
  });

  it('listen on the addresses in their settings', () => {
    const ports = Object.fromEntries(
      containerOf(name).ports.map(({ name: port, containerPort }) => [port, String(containerPort)]),
    );
    const metrics = settings.get('METRICS_PORT');
    expect(ports).toEqual(name === 'api' ? { http: settings.get('PORT'), metrics } : { metrics });
  });

  it('write only to /tmp, and mount the configuration where it is read', () => {
    const { volumeMounts } = containerOf(name);
    const written = volumeMounts.filter(({ readOnly }) => readOnly !== true);
    expect(written).toEqual([{ name: 'temporary', mountPath: '/tmp' }]);
    expect(volumeMounts.map(({ mountPath }) => mountPath)).toContain(settings.get('GATEWAY_CONFIG'));
    expect(volumeMounts).toEqual(containerOf('api').volumeMounts);
    expect(podOf(name).volumes).toEqual(podOf('api').volumes);
  });
});

const labels = z.record(z.string(), z.string());
const peers = z.array(z.looseObject({ namespaceSelector: z.unknown().optional() }));
const policySchema = z.object({
  kind: z.literal('NetworkPolicy'),
  spec: z.object({
    podSelector: z.object({ matchLabels: labels }),
    policyTypes: z.array(z.string()),
    ingress: z.array(z.object({ from: peers.optional(), ports: z.array(z.object({ port: z.string() })) })),
    egress: z.array(
      z.object({
        to: z.array(
          z.object({
            namespaceSelector: z.object({}).optional(),
            ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()) }).optional(),
          }),
        ),
      }),
    ),
  }),
});
const podLabels = z.object({
  spec: z.object({ template: z.object({ metadata: z.object({ labels }) }) }),
});

describe('the network policies', () => {
  const policies = objects.flatMap((object) => policySchema.safeParse(object).data?.spec ?? []);
  const pods = objects.flatMap((object) => podLabels.safeParse(object).data?.spec.template.metadata ?? []);

  it('cover each kind of pod in both directions', () => {
    expect(pods).toHaveLength(3);
    expect(policies.map(({ podSelector }) => podSelector.matchLabels)).toEqual(
      pods.map((each) => each.labels),
    );
    for (const { policyTypes } of policies) expect(policyTypes).toEqual(['Ingress', 'Egress']);
  });

  it('open the API to everybody, the metrics to one namespace, and nothing else', () => {
    const open = policies.map(({ ingress }) =>
      ingress.map(({ from, ports }) => [ports.map(({ port }) => port), from ?? 'all']),
    );
    const monitoring = [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } },
    ];
    expect(open).toEqual([
      [
        [['http'], 'all'],
        [['metrics'], monitoring],
      ],
      [[['metrics'], monitoring]],
      [],
    ]);
  });

  it('keep every pod away from the cloud’s metadata service', () => {
    for (const { egress } of policies) {
      const blocks = egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
      expect(blocks.map(({ cidr }) => cidr)).toEqual(['0.0.0.0/0', '::/0']);
      expect(blocks.flatMap(({ except }) => except)).toEqual(
        expect.arrayContaining(['169.254.169.254/32', 'fd00:ec2::254/128']),
      );
    }
  });
});

it('no Service exposes the metrics port', () => {
  const services_ = objects.flatMap(
    (object) =>
      z
        .object({
          kind: z.literal('Service'),
          spec: z.object({ ports: z.array(z.object({ targetPort: z.string() })) }),
        })
        .safeParse(object).data?.spec ?? [],
  );
  expect(services_.map(({ ports }) => ports.map(({ targetPort }) => targetPort))).toEqual([['http']]);
});

describe('the probes', () => {
  it('check the worker as docker-compose.yml does', () => {
    expect(containerOf('worker').readinessProbe?.exec?.command).toEqual(
      service('worker').healthcheck?.test.slice(1),
    );
  });

  it('restart an API that does not respond, and send no requests to one that is not ready', () => {
    const { startupProbe, readinessProbe, livenessProbe } = containerOf('api');
    const of = (path: string) => ({ httpGet: { path, port: 'http' } });
    expect(startupProbe).toMatchObject(of('/healthz'));
    expect(livenessProbe).toMatchObject(of('/healthz'));
    expect(readinessProbe).toMatchObject(of('/readyz'));
  });
});

describe('the job', () => {
  const { image, command, env, volumeMounts } = containerOf('temporal-namespace');
  const once = service('temporal-namespace');

  it('runs the script that docker-compose.yml runs, in its image', () => {
    expect(image).toBe(once.image);
    expect(command).toEqual(once.entrypoint);
    expect(volumeMounts[0]).toMatchObject({ name: 'scripts', mountPath: '/deploy', readOnly: true });
    const { files } = z
      .object({ configMapGenerator: z.tuple([z.object({ files: z.array(z.string()) })]) })
      .transform(({ configMapGenerator: [generator] }) => generator)
      .parse(parse(read('../temporal/kustomization.yaml')));
    expect(files.map((file) => `/deploy/${file}`)).toEqual([command?.[1]]);
  });

  it('has the variables that the script reads', () => {
    const { TEMPORAL_ADDRESS: _ofOverlay, ...rest } = once.environment;
    const expected = Object.entries(rest).map(([key, value]) => [key, withDefaults(value)]);
    expect(Object.fromEntries(settings)).toMatchObject(Object.fromEntries(expected));
    expect(env.map(({ name }) => name)).toEqual(['TEMPORAL_API_KEY', 'HOME']);
  });
});

describe('the example of an overlay', () => {
  const example = read('example/kustomization.yaml');

  it('sets the values that the base cannot know', () => {
    const literals = settingsIn(example.replaceAll(/^ +- (?=[A-Z_]+=)/gm, ''));
    expect([...literals.keys()]).toEqual(
      expect.arrayContaining(['TEMPORAL_ADDRESS', 'PUBLIC_URL', 'TRUSTED_PROXIES']),
    );
    const given = [...literals.keys(), ...settings.keys()].filter((name) => /^[A-Z_]+$/.test(name));
    expect(given.filter((name) => !environmentNames.includes(name))).toEqual(['TEMPORAL_RETENTION']);
  });

  it('offers the secrets that the pods read', () => {
    const offered = read('example/secrets.env.example').matchAll(/^(?:# )?([A-Z_]+)=/gm);
    const read_ = roles.flatMap((name) => secretsOf(name).map(({ key }) => key));
    expect(new Set([...offered].map(([, name]) => name))).toEqual(new Set(read_));
  });

  it('replaces the image that the pods name', () => {
    const { images } = z
      .looseObject({
        images: z.tuple([z.object({ name: z.string(), newTag: z.string(), newName: z.string() })]),
      })
      .parse(parse(example));
    expect(`${images[0].name}:${images[0].newTag}`).toBe(containerOf('api').image);
  });
});
