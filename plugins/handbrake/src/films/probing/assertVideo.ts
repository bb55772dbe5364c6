import { Failure, firstBytes, type OpenFile } from '@stowage/plugin-api';
import { fileType, sniffedBytes, type VideoContainer, videoContainer } from '@stowage/rules';
import type { SandboxedProgram } from '../../SandboxedProgram.js';
import type { Film } from './Film.js';
import { probe } from './probe.js';

/**
 * The container of a video, by its name and its first 4 kB. Throws for anything else: with a playlist an encoder would open the files
 * that it names, which are other people's.
 */
export async function assertVideo(name: string, file: OpenFile): Promise<VideoContainer> {
	const container = fileType(name) === 'video' ? videoContainer(await firstBytes(file, sniffedBytes)) : undefined;
	if (container === undefined) throw notVideo();
	return container;
}

/** More than 8K, panoramas of 8192 by 8192 and cinema in 12K have; an encoder keeps dozens of frames in memory. */
const maxFramePixels = 100_000_000;

/**
 * Throws unless ffprobe, which opens nothing but the formats on its list, finds a film of this container in an open file. So the same is
 * found by the program that knows each format and by the first bytes, and HandBrake, which has no such list, is given nothing about which
 * they differ. Throws for pictures that are larger than those of any film, too.
 */
export async function assertFilm(
	ffprobe: SandboxedProgram,
	descriptor: number,
	container: VideoContainer,
	signal: AbortSignal,
): Promise<Film> {
	const film = await probe(ffprobe, descriptor, signal);
	if (film?.container !== container) throw notVideo();
	const pixels = Math.max(...film.video.map(({ size }) => size));
	if (pixels > maxFramePixels) {
		throw new Failure(
			'invalid',
			`The video has pictures of ${Math.ceil(pixels / 1e6)} megapixels. Those of more than ${maxFramePixels / 1e6} are not converted.`,
		);
	}
	return film;
}

function notVideo(): Failure {
	return new Failure('invalid', 'File is not a video');
}
