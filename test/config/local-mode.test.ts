import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/config/config-error.ts';
import { readEnvironment } from '../../src/config/environment.ts';
import { openConfigFile } from '../../src/config/config-file.ts';
import { localEnvironment, withLocalOrigin } from '../../src/config/local-mode.ts';
import { adapters } from '../../src/providers/index.ts';

const settings = {
  secretsKey: randomBytes(32).toString('base64'),
  adminToken: 'an-admin-token-that-was-generated',
  account: 'local',
  mongodbUri: 'mongodb://127.0.0.1:1',
  temporalAddress: '127.0.0.1:2',
  simulatorUrl: 'http://127.0.0.1:8093',
};

describe('the environment of local mode', () => {
  it('is complete without any variable, and names a configuration that is valid with it', () => {
    const variables = localEnvironment({}, settings);
    const environment = readEnvironment(variables);
    expect(environment).toMatchObject({
      ADMIN_TOKEN: settings.adminToken,
      MONGODB_URI: settings.mongodbUri,
      TEMPORAL_ADDRESS: settings.temporalAddress,
      PAYLOAD_ENCRYPTION: 'off',
    });
    expect(environment.SECRETS_KEY?.map((key) => key.toString('base64'))).toEqual([settings.secretsKey]);
    const file = openConfigFile(environment.GATEWAY_CONFIG, { ...adapters, environment: variables });
    const { config } = file.own;
    for (const { base_url } of config.channels) expect(base_url).toContain(settings.simulatorUrl);
  });

  it('is overridden by every variable that is set', () => {
    const given = {
      ADMIN_TOKEN: 'a-token-of-the-operator-32-letters',
      SECRETS_KEY: randomBytes(32).toString('base64'),
      MONGODB_URI: 'mongodb://elsewhere:27017',
      TEMPORAL_ADDRESS: 'elsewhere:7233',
      GATEWAY_CONFIG: '/own/gateway.yaml',
      LOG_LEVEL: 'warn',
      WEBHOOK_ALLOW_PRIVATE_NETWORKS: '10.0.0.0/8',
    };
    expect(localEnvironment(given, settings)).toMatchObject({
      ...given,
      SECRETS_KEY: `${given.SECRETS_KEY},${settings.secretsKey}`,
      PAYLOAD_ENCRYPTION: 'on',
    });
    expect(localEnvironment({ ...given, PAYLOAD_ENCRYPTION: 'off' }, settings)).toMatchObject({
      PAYLOAD_ENCRYPTION: 'off',
    });
    expect(localEnvironment(given, settings)).not.toHaveProperty('SIMULATOR_URL');
  });

  it('treats an empty variable as unset', () => {
    expect(localEnvironment({ SECRETS_KEY: '', ADMIN_TOKEN: '', GATEWAY_CONFIG: '' }, settings)).toEqual(
      localEnvironment({}, settings),
    );
  });
});

describe('a broken file of the operator', () => {
  const broken = new ConfigError('x', ['currency: required']);

  it('explains how to return to the simulator', () => {
    expect(withLocalOrigin(broken, 'gateway.yaml')).toMatchObject({
      violations: broken.violations,
      message: expect.stringMatching(
        /1 problem\(s\)[\s\S]*return to the simulator, rename or remove that file/,
      ),
    });
    expect(withLocalOrigin(broken, '/own/file.yaml')).toMatchObject({
      message: expect.stringContaining('unset GATEWAY_CONFIG'),
    });
  });

  it('does not change other errors', () => {
    expect(withLocalOrigin(broken, undefined)).toBe(broken);
    const other = new Error('x');
    expect(withLocalOrigin(other, 'gateway.yaml')).toBe(other);
  });
});
