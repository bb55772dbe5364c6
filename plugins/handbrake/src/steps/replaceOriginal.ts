import {
	Failure,
	type Files,
	findById,
	type ItemRef,
	isFailure,
	type JobContext,
	joinPath,
	parentPath,
	parsePath,
	retryWhileLocked,
	statIfPresent,
	type WalkedItem,
} from '@stowage/plugin-api';
import type { StoragePath } from '@stowage/rules';
import { doubtIn, isSame, itemAt, sourceOf } from '../chosenFilm.js';
import type { Conversion, PublishedStep } from '../conversion.js';
import type { ConvertDependencies } from './ConvertDependencies.js';

/** The result of a conversion. */
export interface ConversionResult extends Record<string, unknown> {
	/** Relative to the area. */
	outputPath: string;
	sizeBefore: number;
	sizeAfter: number;
	/** Whether it was asked for that the original is deleted. */
	deletesOriginal: boolean;
	isOriginalDeleted: boolean;
	/** Why it was kept although it was to be deleted, as a sentence, where there is more to say. */
	keptReason?: string;
	/** What the new file lacks of the original, in words: then that is kept. */
	losses: string[];
}

/**
 * Removes the original if that was requested, the output lacks nothing of it, is there as it was published and the original is unchanged
 * since the conversion, and gives the output its name if that is free then. Hours may have passed since the output was published.
 */
export async function replaceOriginal(
	job: JobContext<Conversion>,
	published: PublishedStep,
	{ files }: Pick<ConvertDependencies, 'files'>,
): Promise<ConversionResult> {
	const { source: converted, sizeBefore, sizeAfter, losses, name, outputId } = published;
	const { viewer, input, signal } = job;
	const convertedTo = (outputPath: string, isOriginalDeleted: boolean, keptReason?: string): ConversionResult => ({
		outputPath,
		sizeBefore,
		sizeAfter,
		deletesOriginal: input.deleteOriginal,
		isOriginalDeleted,
		...(keptReason === undefined ? {} : { keptReason }),
		losses,
	});
	const publishedAt = joinPath(folderPath(job, published), name);
	if (!input.deleteOriginal || losses.length > 0) return convertedTo(publishedAt, false);
	const doubt = published.isRemoving ? undefined : doubtIn(input, converted);
	if (doubt !== undefined) return convertedTo(publishedAt, false, doubt);
	let isSaved = published.isRemoving;
	let isDeleted = published.isRemoving;
	const look = async () => statIfPresent(files, viewer, await itemAt(job, published.path ?? input.path, files));
	const remove = async (): Promise<ConversionResult> => {
		let original = await look();
		// An earlier run was completed and interrupted before it recorded that, or the name was free as the original had been moved.
		if (original?.id === outputId) return convertedTo(original.path, isDeleted);
		let output: WalkedItem | undefined;
		if (original !== undefined && isSame(original, converted)) {
			output = await findOutput(job, published, files);
			signal.throwIfAborted();
			if (!isSaved) {
				await job.checkpoint({ ...published, isRemoving: true });
				isSaved = true;
				// To save that may have taken long.
				output = await findOutput(job, published, files);
			}
			original = await look();
			signal.throwIfAborted();
		}
		if (original !== undefined && !isSame(original, converted)) return convertedTo(publishedAt, false);
		// Where it is gone, an earlier run removed it and was interrupted, or somebody has moved or deleted it.
		if (original !== undefined) {
			const at = { ...sourceOf(job), path: original.path };
			try {
				await files.remove(viewer, at, { isMeant: async ({ item }) => isSame(item, converted) });
				isDeleted = true;
			} catch (error) {
				// It was changed since that look.
				if (isFailure(error, 'preconditionFailed')) return convertedTo(publishedAt, false);
				if (isRefusal(error)) return convertedTo(output?.path ?? publishedAt, false, error.message);
				// Or it was moved or deleted since.
				if (!isFailure(error, 'notFound') || (await look()) !== undefined) throw error;
			}
		}
		// Its owner has given it another place.
		const { path: folder } = await publishedIn(job, published, files);
		if (output !== undefined && output.path !== joinPath(folder, name)) return convertedTo(output.path, isDeleted);
		return convertedTo(await renameOutput(job, published, files), isDeleted);
	};
	try {
		return await retryWhileLocked(remove, signal);
	} catch (cause) {
		const reason = isFailure(cause) ? ` ${cause.message}` : '';
		const message = `The video was converted to ${name}, but the original could not be deleted.${reason}`;
		throw new Failure(isFailure(cause, 'unavailable') ? 'unavailable' : 'conflict', message, { cause });
	}
}

/** Whether it stays refused however often it is tried. */
function isRefusal(error: unknown): error is Failure {
	return isFailure(error, 'forbidden') || isFailure(error, 'conflict') || isFailure(error, 'storageFull');
}

/** The path of the folder that the output was published in, as it was then. */
function folderPath({ input }: JobContext<Conversion>, { folder, path = input.path }: PublishedStep): StoragePath {
	return folder === undefined ? parentPath(parsePath(path)) : parsePath(folder);
}

const publishedIn = (job: JobContext<Conversion>, published: PublishedStep, files: Files): Promise<ItemRef> =>
	itemAt(job, folderPath(job, published), files);

/** The output as it was published, wherever its owner has it by now. Throws if it is gone: then the original is all there is. */
async function findOutput(job: JobContext<Conversion>, published: PublishedStep, files: Files): Promise<WalkedItem> {
	const { name, outputId, outputMtime, sizeAfter } = published;
	const { viewer, signal } = job;
	const folder = await publishedIn(job, published, files);
	const there = await statIfPresent(files, viewer, { ...folder, path: joinPath(folder.path, name) });
	const found = there?.id === outputId ? there : await findById(files, viewer, folder, outputId, signal);
	const isAsPublished = found?.size === sizeAfter && (outputMtime === undefined || found.mtime === outputMtime);
	if (found === undefined || !isAsPublished)
		throw new Failure('conflict', `${name} was deleted or changed meanwhile, so the original is kept.`);
	return found;
}

/** Renames the output to the wished name, which the original may have had; resolves to the path that it has then. */
async function renameOutput(job: JobContext<Conversion>, published: PublishedStep, files: Files): Promise<StoragePath> {
	const { viewer, input } = job;
	const { name, outputId } = published;
	const folder = await publishedIn(job, published, files);
	const beside = (each: string): ItemRef => ({ ...folder, path: joinPath(folder.path, each) });
	const publishedAt = joinPath(folder.path, name);
	if (name === input.outputName) return publishedAt;
	const output = await statIfPresent(files, viewer, beside(name));
	if (output?.id !== outputId) {
		// An earlier run has renamed it, or its owner has moved it.
		const wished = beside(input.outputName);
		return (await statIfPresent(files, viewer, wished))?.id === outputId ? wished.path : publishedAt;
	}
	try {
		return joinPath(folder.path, (await files.rename(viewer, beside(name), input.outputName)).name);
	} catch (error) {
		if (isFailure(error, 'alreadyExists')) return publishedAt;
		throw error;
	}
}
