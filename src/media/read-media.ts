import { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';
import { defined } from '../base/defined.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import { inspectSource } from '../images/inspect-image.ts';
import { checkedClaims } from './checked-claims.ts';
import type { MediaSource } from './media-source.ts';

/** None that names other files, as playlists do: nothing is read but the source. */
const formats = [MP4, QTFF, WEBM, MATROSKA, MP3, WAVE, OGG, FLAC, ADTS];
const cacheBytesMax = 4 * 1024 * 1024;
/** A day: a longer claim is not credible. */
const secondsMax = 86_400;

/** Undefined: an unknown format. Rejects where the file is broken, or cannot be read. */
export async function readMedia(source: MediaSource): Promise<MediaFacts | undefined> {
  return (await inspectSource(source)) ?? readFilm(checkedClaims(source));
}

async function readFilm(source: MediaSource): Promise<MediaFacts | undefined> {
  const input = new Input({
    formats,
    source: new CustomSource({
      getSize: () => source.bytes,
      read: (start, end) => source.read(start, end),
      maxCacheSize: cacheBytesMax,
      // Frame by frame, each read would be a message between threads.
      prefetchProfile: 'fileSystem',
    }),
  });
  if (!(await input.canRead())) return undefined;
  const { mimeType } = await input.getFormat();
  const video = await input.getPrimaryVideoTrack();
  if (video === null && (await input.getPrimaryAudioTrack()) === null) return undefined;
  const seconds = await (video === null ? lengthOfAudio(input) : lengthOfFrames(input));
  return {
    mediaType: video === null ? mimeType.replace(/^[^/]*/, 'audio') : mimeType,
    ...(video === null ? {} : await pixelsOf(video)),
    ...defined({ seconds: seconds > 0 && seconds <= secondsMax ? seconds : undefined }),
  };
}

/** Not what a header claims: videos are paid by it. NaN: it would need more of the file than is read. */
async function lengthOfFrames(input: Input): Promise<number> {
  try {
    return await input.computeDuration(undefined, { skipLiveWait: true });
  } catch {
    return Number.NaN;
  }
}

/** The frames of some formats have no table: all of them would be read, one by one, for what a header says, too. */
async function lengthOfAudio(input: Input): Promise<number> {
  return (await input.getDurationFromMetadata()) ?? lengthOfFrames(input);
}

async function pixelsOf(video: InputVideoTrack): Promise<Pick<MediaFacts, 'width' | 'height'>> {
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()];
  return width > 0 && height > 0 ? { width: Math.round(width), height: Math.round(height) } : {};
}
