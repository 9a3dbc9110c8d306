import type { LocalSettings } from '../config/local-settings.ts';

export interface BannerFacts {
  readonly apiUrl: string;
  readonly temporalUi: string | undefined;
  readonly temporalAddress: string;
  readonly simulatorUrl: string | undefined;
  readonly mongodbUri: string;
  readonly settings: LocalSettings;
  /** Decimal strings. */
  readonly balance: { readonly currency: string; readonly available: string; readonly held: string };
  readonly readySeconds: number;
  readonly dataDir: string;
}

/** What a newcomer needs next: addresses, the key, and commands that work when pasted. */
export function banner(facts: BannerFacts): string {
  const { apiUrl, settings, balance } = facts;
  const auth = `-H 'authorization: Bearer ${settings.apiKey ?? ''}'`;
  const body =
    '{"model":"seedance-2.0","prompt":"a paper boat on a rainy street","duration":5,"resolution":"720p","ratio":"16:9"}';
  return [
    '',
    `Mediary is ready (${facts.readySeconds.toFixed(1)} s). Everything runs on this machine; the upstream is simulated and costs nothing.`,
    '',
    `  API           ${apiUrl}   (OpenAPI: ${apiUrl}/openapi.json)`,
    `  Temporal UI   ${facts.temporalUi ?? 'of your own server'}   (server ${facts.temporalAddress})`,
    `  Simulator     ${facts.simulatorUrl ?? 'not started'}`,
    `  MongoDB       ${facts.mongodbUri}`,
    `  Account       ${settings.account}, ${balance.available} ${balance.currency} available, ${balance.held} held`,
    `  API key       ${settings.apiKey ?? ''}`,
    `  Admin token   ${settings.adminToken}`,
    `  Data, logs    ${facts.dataDir}`,
    '',
    'Create a video task:',
    '',
    `  curl -s ${apiUrl}/v1/videos/generations ${auth} -H 'content-type: application/json' -d '${body}'`,
    '',
    'See how the newest one is doing (repeat it; `?wait=30` on one task answers as soon as its status changes):',
    '',
    `  curl -s '${apiUrl}/v1/videos/generations?limit=1' ${auth}`,
    '',
    'Download the newest finished video:',
    '',
    `  curl -sL "$(curl -s '${apiUrl}/v1/videos/generations?limit=1&status=succeeded' ${auth} | sed -n 's/.*"video_url":"\\([^"]*\\)".*/\\1/p')" -o video.mp4`,
    '',
    'Make an image (`prefer: wait=60` turns a model that answers with a task, such as wan-image-2.2, into one that waits):',
    '',
    `  curl -s ${apiUrl}/v1/images/generations ${auth} -H 'content-type: application/json' -d '{"model":"gpt-image-1","prompt":"a paper boat","size":"1024x1024","quality":"low"}' | cut -c1-300`,
    '',
    'Ctrl-C ends everything that was started here. Tasks in flight go on at the next start.',
    '',
  ].join('\n');
}
