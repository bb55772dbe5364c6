import type { VideoContainer } from '@stowage/rules';
import { asfObjectsIn } from './asf/asfObjects.js';
import { aviChunksIn } from './avi/aviChunks.js';
import { flvTagsIn } from './flvTags.js';
import { matroskaElementsIn } from './matroska/matroskaElements.js';
import { movBoxesIn } from './mov/movBoxes.js';
import { programPacketsIn } from './mpeg/programPackets.js';
import { transportPacketsIn } from './mpeg/transportPackets.js';
import { unlessUnreadable } from './reading/readAt.js';
import { type Contents, Findings } from './reading/scanner.js';
import { realChunksIn } from './realChunks.js';

type Walker = (descriptor: number, signal: AbortSignal) => Promise<Contents | undefined>;

/** All of Ogg is in tracks, which ffprobe lists, and so is all of a video without a container. */
const nothing: Walker = async () => new Findings();

const walkers: Readonly<Record<VideoContainer, Walker>> = {
	mov: movBoxesIn,
	matroska: matroskaElementsIn,
	avi: aviChunksIn,
	mpegts: transportPacketsIn,
	mpeg: programPacketsIn,
	flv: flvTagsIn,
	asf: asfObjectsIn,
	rm: realChunksIn,
	ogg: nothing,
	mpegvideo: nothing,
};

/**
 * What an open film has that neither ffprobe nor HandBrake reads: each part of its container of which it is not known that nothing is lost
 * with it. Undefined if that can't be known, such as where the file can't be read any more.
 */
export const walkContainer = (container: VideoContainer, descriptor: number, signal: AbortSignal) =>
	unlessUnreadable(walkers[container](descriptor, signal));
