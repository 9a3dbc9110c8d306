import { ADTS, CustomSource, FLAC, Input, MATROSKA, MP3, MP4, OGG, QTFF, WAVE, WEBM } from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';
import { defined } from '../base/defined.ts';
import type { MediaFacts } from '../models/media-facts.ts';
import { inspectSource } from '../images/inspect-image.ts';
import { checkedClaims } from './checked-claims.ts';
import type { MediaSource } from './media-source.ts';

/** Playlists and other formats that refer to more files are excluded, so that only the source is read. */
const formats = [MP4, QTFF, WEBM, MATROSKA, MP3, WAVE, OGG, FLAC, ADTS];
const cacheBytesMax = 4 * 1024 * 1024;
/** In seconds. A file that claims to be longer is treated as implausible. */
const secondsMax = 86_400;

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
      // Any other profile would send a message between threads for each frame that is read.
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

/**
 * Videos are charged by length and the header may be wrong, so the length is computed from the frames. Returns NaN if
 * too little of the file is readable.
 */
async function lengthOfFrames(input: Input): Promise<number> {
  try {
    return await input.computeDuration(undefined, { skipLiveWait: true });
  } catch {
    return Number.NaN;
  }
}

/**
 * Some audio formats have no frame table, so checking the header would mean reading every frame. Trust the header if it
 * has a length.
 */
async function lengthOfAudio(input: Input): Promise<number> {
  return (await input.getDurationFromMetadata()) ?? lengthOfFrames(input);
}

async function pixelsOf(video: InputVideoTrack): Promise<Pick<MediaFacts, 'width' | 'height'>> {
  const [width, height] = [await video.getDisplayWidth(), await video.getDisplayHeight()];
  return width > 0 && height > 0 ? { width: Math.round(width), height: Math.round(height) } : {};
}
