import type { LocalSettings } from '../config/local-settings.ts';
import type { JsonObject } from '../models/request.ts';
import type { Examples } from './examples.ts';

export interface BannerFacts {
  readonly apiUrl: string;
  readonly temporalUi: string | undefined;
  readonly temporalAddress: string;
  readonly simulatorUrl: string | undefined;
  readonly gatewayFile: string | undefined;
  readonly mongodbUri: string;
  readonly settings: Pick<LocalSettings, 'account' | 'adminToken' | 'apiKey'>;
  readonly examples: Examples;
  /** Amounts are decimal strings. */
  readonly balance: { readonly currency: string; readonly available: string; readonly held: string };
  readonly readySeconds: number;
  readonly dataDir: string;
}

export function banner(facts: BannerFacts): string {
  const { apiUrl, settings, balance, gatewayFile } = facts;
  const upstream =
    gatewayFile === undefined
      ? 'The upstream is simulated and costs nothing.'
      : `The upstreams come from ${gatewayFile}. They may bill you for what you create.`;
  return [
    '',
    `Mediary is ready (${facts.readySeconds.toFixed(1)} s). ${upstream}`,
    '',
    `  API           ${apiUrl}   (OpenAPI: ${apiUrl}/openapi.json)`,
    `  Documentation ${apiUrl}/docs   (read it, and try it with the API key)`,
    `  Account page  ${apiUrl}/account   (sign in with the API key)`,
    `  Console       ${apiUrl}/console   (sign in with the admin token)`,
    `  Temporal UI   ${facts.temporalUi ?? 'of your own server'}   (server ${facts.temporalAddress})`,
    ...(facts.temporalUi === undefined ? [] : [`  Waiting tasks ${waitingTasksUrl(facts.temporalUi)}`]),
    `  Simulator     ${facts.simulatorUrl ?? 'not started'}`,
    `  MongoDB       ${withoutPassword(facts.mongodbUri)}`,
    `  Account       ${settings.account}, ${balance.available} ${balance.currency} available, ${balance.held} held`,
    `  API key       ${settings.apiKey ?? ''}`,
    `  Admin token   ${settings.adminToken}`,
    `  Data, logs    ${facts.dataDir}`,
    '',
    ...commands(facts),
    'Ctrl-C ends everything that was started here. Tasks in flight resume at the next start.',
    '',
  ].join('\n');
}

function waitingTasksUrl(temporalUi: string): string {
  const query = encodeURIComponent('NeedsAttention IS NOT NULL AND ExecutionStatus = "Running"');
  return `${temporalUi}/namespaces/default/workflows?query=${query}`;
}

function withoutPassword(uri: string): string {
  return uri.replace(/\/\/[^/@]+@/, '//[credentials]@');
}

function commands({ apiUrl, settings, examples }: BannerFacts): string[] {
  const auth = `-H 'authorization: Bearer ${settings.apiKey ?? ''}'`;
  const post = (path: string, body: JsonObject): string =>
    `curl -s ${apiUrl}${path} ${auth} -H 'content-type: application/json' -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`;
  const video = `${apiUrl}/v1/videos/generations`;
  const { video: videoBody, image, imageTask } = examples;
  return [
    ...(videoBody === undefined
      ? []
      : [
          ...command('Create a video task:', post('/v1/videos/generations', videoBody)),
          ...command('Check the newest task:', `curl -s '${video}?limit=1' ${auth}`),
          ...command(
            'Wait for the newest task and download its video (the loop repeats `?wait=30` until the task has ended):',
            [
              `id=$(curl -s '${video}?limit=1' ${auth} | sed -n 's/.*"task_id":"\\([^"]*\\)".*/\\1/p')`,
              `while task=$(curl -sf "${video}/$id?wait=30" ${auth}) && echo "$task" | grep -qE '"status":"(pending|submitted|running)"'; do :; done`,
              `curl -sfL "$(echo "$task" | sed -n 's/.*"video_url":"\\([^"]*\\)".*/\\1/p')" -o video.mp4 && ls -l video.mp4`,
            ].join('; '),
          ),
        ]),
    ...(image === undefined
      ? []
      : command(
          'Generate an image and save it:',
          `${post('/v1/images/generations', image)} | sed -n 's/.*"b64_json":"\\([^"]*\\)".*/\\1/p' | base64 -d > image.png; ls -l image.png`,
        )),
    ...(imageTask === undefined
      ? []
      : command(
          "Generate an image with a model that returns a task (add `-H 'prefer: wait=60'` to wait for the image):",
          post('/v1/images/generations', imageTask),
        )),
  ];
}

function command(title: string, line: string): string[] {
  return [title, '', `  ${line}`, ''];
}
