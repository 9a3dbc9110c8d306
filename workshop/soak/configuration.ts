export const offer = { model: 'seedance', duration: 5, resolution: '720p', ratio: '16:9' };

export const chargeOfTask = 762_300n;

export function gatewayYaml(withSecond: boolean): string {
  const second = withSecond ? ', { id: b, api_key: simulated }' : '';
  return `currency: USD
channels:
${channel('one', `{ id: a, api_key: simulated }${second}`)}${channel('two', '{ id: c, api_key: simulated }')}models:
  - id: seedance
    kind: video
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 4, max: 15, default: 5 }
    expected_seconds: 2
    price: { lines: [{ measure: million_tokens, price: "7.00" }] }
`;
}

function channel(id: string, credentials: string): string {
  return `  - id: ${id}
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [${credentials}]
    limits: { submits_per_second: 5, polls_per_second: 20, concurrent_tasks: 12 }
    timeouts: { submit_ms: 5000, poll_ms: 3000 }
    models: { seedance: { upstream: dreamina-seedance-2-0-260128 } }
`;
}
