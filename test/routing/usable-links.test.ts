import { describe, expect, it } from 'vitest';
import { createAddressRules } from '../../src/http-client/address-rules.ts';
import { ark } from '../../src/providers/ark/index.ts';
import type { OperationStatus } from '../../src/providers/provider.ts';
import { withUsableLinks } from '../../src/routing/usable-links.ts';
import { canned, imageRequest, providerContext, upstreamError } from '../providers/support.ts';

const hostile = [
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  'file:///etc/passwd',
  '//cdn.example/video.mp4',
  '/video.mp4',
  'ftp://cdn.example/video.mp4',
  'https://user:secret@cdn.example/video.mp4',
  'http://127.0.0.1/video.mp4',
  'http://169.254.169.254/latest/meta-data',
  'http://10.0.0.7/video.mp4',
  'http://[fd00::1]/video.mp4',
  'http://localhost/video.mp4',
  'https://cdn.internal/video.mp4',
  'https://cdn.example/video.mp4\nset-cookie: a',
  'https://cdn.example/\u202E4pm.exe',
  'https://cdn.example/\u200Bvideo.mp4',
];

function channelOf(networks: readonly string[] = []) {
  const withheld: string[] = [];
  const rules = createAddressRules(networks);
  const provider = withUsableLinks(ark, {
    check: (url) => rules.checkUrl(url),
    onWithheld: (links) => void withheld.push(...links),
  });
  const { video, image } = provider;
  if (video?.list === undefined || image === undefined) throw new Error('the adapter has all of them');
  return { video, list: video.list, image, withheld };
}

const job = (content: object) => ({
  id: 'cgt-1',
  status: 'succeeded',
  content,
  usage: { completion_tokens: 10, total_tokens: 10 },
  resolution: '720p',
  duration: 5,
});
const context = (json: unknown) => providerContext({ request: canned({ json }).request });
const good = 'https://cdn.example/video.mp4?signature=1';

describe('a job whose result has a link that nobody may follow', () => {
  it.each(hostile)('%s: fails, and its link is kept for operators', async (url) => {
    const { video, list } = channelOf();
    const failed: Partial<OperationStatus> = {
      state: 'failed',
      code: 'unusable_link',
      message: 'The upstream delivered a link that cannot be used.',
      failure: { class: 'internal' },
      withheld: [url],
    };
    const content = { video_url: url };
    expect(await video.status({ id: 'cgt-1' }, context(job(content)))).toEqual({
      ...failed,
      traceId: 'cgt-1',
    });
    const listed = await list([{ id: 'cgt-1' }], context({ total: 1, items: [job(content)] }));
    expect(listed.get('cgt-1')).toMatchObject(failed);
  });

  it('fails for its last frame too', async () => {
    const content = { video_url: good, last_frame_url: 'javascript:alert(1)' };
    const status = await channelOf().video.status({ id: 'cgt-1' }, context(job(content)));
    expect(status).toMatchObject({ state: 'failed', withheld: ['javascript:alert(1)'] });
  });
});

it('permitted links pass unchanged', async () => {
  const read = await channelOf().video.status({ id: 'cgt-1' }, context(job({ video_url: good })));
  expect(read).toMatchObject({ state: 'succeeded', items: [{ url: good }] });
});

it('a private network is permitted if the settings say so', async () => {
  const url = 'http://10.0.0.7:8080/video.mp4';
  const read = await channelOf(['10.0.0.0/8']).video.status(
    { id: 'cgt-1' },
    context(job({ video_url: url })),
  );
  expect(read).toMatchObject({ state: 'succeeded', items: [{ url }] });
});

describe('an image that is rendered while the caller waits', () => {
  it('is not resubmitted elsewhere, and its link is reported', async () => {
    const { image, withheld } = channelOf();
    const answer = { created: 1, data: [{ url: good }, { url: 'file:///etc/passwd' }] };
    const error = await upstreamError(image.generate(imageRequest(), context(answer)));
    expect(error).toMatchObject({ outcome: 'ambiguous', code: 'unusable_link' });
    expect(withheld).toEqual(['file:///etc/passwd']);
  });

  it('passes with a usable link, or as data', async () => {
    const { image, withheld } = channelOf();
    const answer = { created: 1, data: [{ url: good }, { b64_json: 'AAAA' }] };
    expect((await image.generate(imageRequest(), context(answer))).images).toHaveLength(2);
    expect(withheld).toEqual([]);
  });
});
