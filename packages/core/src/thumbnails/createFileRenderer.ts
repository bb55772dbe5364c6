import { setTimeout as wait } from 'node:timers/promises';
import {
	type ByteRange,
	firstBytes,
	type OpenFile,
	type PictureSize,
	type Registry,
	type Renderer,
	type RenderSource,
} from '@stowage/plugin-api';
import { extensionOf, Failure, isFailure, previewOf, sniffedBytes } from '@stowage/rules';
import { unlessAborted } from '../limits/SharedWork.js';
import type { Log } from '../log.js';
import type { KindProcess } from './kinds/KindProcess.js';
import type { KindAnswer } from './kinds/kindProgram.js';
import type { CachedThumbnail, MissingThumbnail } from './ThumbnailCache.js';
import { WatchedSource } from './WatchedSource.js';
import { isWholeWebp } from './webp.js';

/** A picture is some ten kilobytes, a large one of noise two megabytes. */
const maxPictureBytes = 16 * 1024 * 1024;

interface Dependencies {
	renderers: Pick<Registry<Renderer>, 'all'>;
	/** Reads the first bytes of files. */
	kinds: Pick<KindProcess, 'find'>;
	/** The folder for temporary copies. */
	folder: string;
	/** The time limit of one picture, for all renderers and their tries together. */
	timeLimitMs: number;
	log: Log;
}

/** What is rendered. */
interface RenderedFile {
	name: string;
	/** Whose file it is, and in which folder: a process of a renderer gets those of one only. */
	owner: string;
	file: OpenFile;
}

/**
 * Resolves to the picture of an open file, `none` where its content has none, or `late` where it takes too long. Throws `unavailable`
 * where nothing is known of the content since the system or the storage lacks something, `unsupportedMediaType` without a renderer for
 * its kind, FileChanged, the storage's errors, and the signal's reason when it fires.
 */
export type RenderFile = (rendered: RenderedFile, size: PictureSize, signal: AbortSignal) => Promise<CachedThumbnail>;

/** Tries the renderers that accept a file one after another, the last one that was offered first. */
export function createFileRenderer({ renderers, kinds, folder, timeLimitMs, log }: Dependencies): RenderFile {
	/** The kind of a file by its content: `none` if that does not match its name, `late` if it takes too long to find out. */
	async function kindOf(name: string, file: Pick<OpenFile, 'item' | 'read'>): Promise<KindAnswer | MissingThumbnail> {
		const named = previewOf(name, file.item.size).kind;
		if (named === 'unknown') return { kind: 'unknown', contentKind: undefined };
		const found = await kinds.find(named, await firstBytes(file, sniffedBytes));
		if (found === undefined) return 'late';
		return found.kind === 'unknown' ? 'none' : found;
	}

	return async ({ name, owner, file }, size, left) => {
		const extension = extensionOf(name);
		const timeLimit = AbortSignal.timeout(timeLimitMs);
		const signal = AbortSignal.any([left, timeLimit]);
		const watched = new WatchedSource(file, folder, signal);
		const read = (range?: ByteRange) => watched.read(range);
		/** Makes sure of the source before it is remembered that its content has no picture. */
		const verdict = async (known: MissingThumbnail): Promise<MissingThumbnail> => {
			try {
				await watched.assertReadable(left);
			} catch (error) {
				left.throwIfAborted();
				throw watched.failure ?? notNow(error);
			}
			return known;
		};
		const found = await unlessAborted(kindOf(name, { item: file.item, read }), signal).catch((error) => {
			left.throwIfAborted();
			// The storage is slow, which says nothing of the content.
			throw timeLimit.aborted ? notNow(error) : error;
		});
		if (typeof found === 'string') return found;
		const { kind, contentKind } = found;
		const source: RenderSource = {
			kind,
			contentKind,
			owner,
			extension,
			size: file.item.size,
			read,
			withLocalFile: (use) => watched.withLocalFile(use),
		};
		const accepting = [...renderers.all()].reverse().filter(([, each]) => each.accepts(kind, extension));
		// Nothing is known of the file: there may be one after the next start.
		if (accepting.length === 0) throw noThumbnail();
		for (const [renderer, each] of accepting) {
			const rendered = each.render(source, size, signal);
			try {
				const bytes = await unlessAborted(rendered, signal);
				if (bytes.length <= maxPictureBytes && isWholeWebp(bytes)) return bytes;
				log.warn({ renderer, bytes: bytes.length }, 'a renderer returned no valid picture');
			} catch (error) {
				left.throwIfAborted();
				// An error of the storage says nothing about the content.
				if (watched.failure !== undefined) throw watched.failure;
				// The storage is slow.
				if (timeLimit.aborted && watched.isAwaited) throw notNow(error);
				if (timeLimit.aborted) {
					// What was decoded by then was nothing.
					const end = await endOf(rendered, left);
					if (isFailure(end, 'unavailable')) throw end;
					log.warn({ renderer, extension, bytes: file.item.size }, 'a renderer took too long');
					return verdict('late');
				}
				if (!isFailure(error)) log.warn({ renderer, extension, reason: String(error) }, 'a renderer failed');
				// No descriptors, no processes, no memory, no program: not the file's fault.
				if (isSystemError(error)) throw notNow(error);
				if (isFailure(error) && error.kind !== 'unsupportedMediaType') throw error;
			}
		}
		return verdict('none');
	};
}

/** How long a renderer is waited for whose time is over: it says whether its decoder had begun. */
const endMs = 1000;

/** What a rendering ends with that was aborted, unless that takes long. */
async function endOf(rendered: Promise<unknown>, left: AbortSignal): Promise<unknown> {
	const ended = rendered.then(
		() => undefined,
		(error: unknown) => error,
	);
	return unlessAborted(Promise.race([ended, wait(endMs)]), left);
}

function isSystemError(error: unknown): boolean {
	return error instanceof Error && 'errno' in error && 'syscall' in error;
}

function notNow(cause: unknown): Failure {
	return new Failure('unavailable', 'There are no previews right now.', { cause, retryAfter: 30 });
}

/** The refusal of a file that has no picture. */
export function noThumbnail(): Failure {
	return new Failure('unsupportedMediaType', 'There is no preview of this file.');
}
