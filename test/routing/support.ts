import { parseGatewayConfig } from '../../src/config/gateway-file.ts';
import { providers } from '../../src/providers/index.ts';
import { videoRequest } from '../providers/support.ts';
import { testYaml } from '../support/test-yaml.ts';

export const testConfig = parseGatewayConfig(testYaml, 'test', {
  environment: { SIMULATOR_URL: 'http://127.0.0.1:1' },
  providerNames: Object.keys(providers),
});

export const testRequest = videoRequest({
  model: 'seedance',
  prompt: 'p',
  resolution: '720p',
  ratio: '16:9',
  duration: 5,
});
