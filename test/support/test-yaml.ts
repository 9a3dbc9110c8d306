/** One channel and one model on the simulator. The timeouts are longer than any pause of a busy machine. */
export const testYaml = `
currency: USD
channels:
  - id: ark
    provider: ark
    base_url: \${SIMULATOR_URL}/ark/api/v3
    private_networks: [127.0.0.0/8]
    private_link_networks: [127.0.0.0/8]
    credentials: [{ id: a, api_key: simulated }]
    limits: { submits_per_second: 500, polls_per_second: 500 }
    timeouts: { submit_ms: 10000, poll_ms: 10000 }
    models: { seedance: { upstream: dreamina-seedance-2-0-260128 } }
models:
  - id: seedance
    kind: video
    input_types: [text_to_video, first_last_frame, reference]
    resolutions: [720p, 480p, 1080p]
    ratios: ["16:9", "9:16", "1:1", "4:3", "3:4", "21:9", adaptive]
    durations: { min: 4, max: 15, default: 5, auto: true }
    inputs: { images: { max: 9 }, videos: { max: 3 }, audios: { max: 3 } }
    expected_seconds: 1
    price:
      lines:
        - { measure: million_tokens, when: { video_input: true, resolution: [1080p] }, price: "4.70" }
        - { measure: million_tokens, when: { video_input: true }, price: "4.30" }
        - { measure: million_tokens, when: { resolution: [1080p] }, price: "7.70" }
        - { measure: million_tokens, price: "7.00" }
`;

/**
 * Like `testYaml`, but charges above 3 wait for an operator. The model `wan` is for channels that cannot find a lost
 * job.
 */
export const attendedYaml = `${testYaml}      hold: { review_above: "3" }
  - id: wan
    kind: video
    input_types: [text_to_video]
    resolutions: [720p]
    ratios: ["16:9"]
    durations: { min: 2, max: 15, default: 5 }
    expected_seconds: 1
    price: { lines: [{ measure: second, price: "0.10" }] }
`;

const arkChannel = /^ {2}- id: ark\n(?: {4}.*\n)+/m.exec(testYaml)?.[0] ?? '';

export const twoChannelsYaml = testYaml.replace(
  arkChannel,
  arkChannel.replace('- id: ark', '- id: ark\n    priority: 10') +
    arkChannel.replace('- id: ark', '- id: spare'),
);

export function testYamlWith(model: string, expectedSeconds: number): string {
  const usual = testYaml.slice(testYaml.indexOf('  - id: seedance'));
  const mapped = `models: { ${model}: { upstream: dreamina-seedance-2-0-260128 }, seedance:`;
  return (
    testYaml.replace('models: { seedance:', mapped) +
    usual
      .replace('id: seedance', `id: ${model}`)
      .replace('expected_seconds: 1', `expected_seconds: ${expectedSeconds}`)
  );
}
