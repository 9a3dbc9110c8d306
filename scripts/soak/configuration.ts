/** gateway.yaml of a soak: two channels with narrow limits. `withSecond`: the credential that comes and goes. */
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
    price: { unit: million_tokens, rules: [{ price: "7.00" }] }
`;
}

function channel(id: string, credentials: string): string {
  return `  - id: ${id}
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    credentials: [${credentials}]
    limits: { submits_per_second: 5, polls_per_second: 20, concurrent_tasks: 12 }
    timeouts: { submit_ms: 5000, poll_ms: 3000 }
    models: { seedance: { upstream: dreamina-seedance-2-0-260128 } }
`;
}

export const videoBody = { model: 'seedance', duration: 5, resolution: '720p', ratio: '16:9' } as const;

/** 720p, 16:9, 5 s: 1280 × 720 × 121 / 1024 tokens by the documented formula, at 7.00 a million; micro-units. */
export const videoCharge = 762_300n;
