import {
	baseName,
	Failure,
	type Files,
	findById,
	type ItemRef,
	isFailure,
	type JobContext,
	type JobStarter,
	joinPath,
	type PluginLog,
	parentPath,
	parsePath,
	retryWhileLocked,
	type StagedFile,
	statIfPresent,
	type Viewer,
	type WalkedItem,
	withLocalFile,
} from '@stowage/plugin-api';
import { assertAllowed, convertDenial, type StoragePath, undefinedIf } from '@stowage/rules';
import { assertChosen, doubtIn, findSource, folderOf, isSame, itemAt, mayDelete, sourceOf } from './chosenFilm.js';
import { type Conversion, conversionStep, type EncodedStep, type PublishedStep } from './conversion.js';
import type { EncodedReceipts } from './EncodedReceipts.js';
import { encode } from './encode.js';
import { assertFilm, assertVideo } from './films/assertVideo.js';
import type { Film } from './films/probe.js';
import type { HandBrake } from './HandBrake.js';

export interface ConvertDependencies {
	files: Files;
	handbrake: HandBrake;
	log: PluginLog;
	/** Where the content of a storage without local files is copied to meanwhile. */
	temporaryFolder: string;
	timeLimitMs: number;
	/** `JobStarter.takeSaved` of conversions. */
	takeSaved: JobStarter<Conversion>['takeSaved'];
	receipts: EncodedReceipts;
}

/** The result of a conversion. */
interface ConversionResult extends Record<string, unknown> {
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
 * Converts a video. The original is removed last, after the output was checked, published and made durable, and only if the output lacks
 * nothing of it and it is unchanged since. An interrupted run continues after the last completed step; incomplete files of an earlier one
 * are removed. What is encoded whole is not thrown away by what keeps it from being published: a run that is tried again publishes it.
 * Where a disk or a program is away it says when to try again.
 */
export async function convert(
	job: JobContext<Conversion>,
	dependencies: ConvertDependencies,
): Promise<ConversionResult> {
	try {
		return await convertInSteps(job, dependencies);
	} catch (error) {
		if (!isFailure(error, 'unavailable') || error.retryAfter !== undefined) throw error;
		throw new Failure('unavailable', error.message, { cause: error, retryAfter: awaySeconds });
	}
}

/** What is away is looked for again after so long. */
const awaySeconds = 60;

async function convertInSteps(
	job: JobContext<Conversion>,
	dependencies: ConvertDependencies,
): Promise<ConversionResult> {
	const { receipts } = dependencies;
	const saved = await receipts.after(conversionStep.safeParse(job.saved).data);
	if (saved?.step === 'published') return replaceOriginal(job, saved, dependencies);
	if (saved?.step === 'encoded' && !job.isCancelled) {
		const published = await publishAgain(job, saved, dependencies);
		if (published !== undefined) await receipts.remove(saved.staged);
		if (published !== undefined) return replaceOriginal(job, published, dependencies);
	}
	if (saved !== undefined) await dropStaged(job.viewer, saved.staged, dependencies);
	// A cancelled one runs once more, only to remove what it has left.
	job.signal.throwIfAborted();
	assertAllowed(convertDenial(job.viewer, sourceOf(job)));
	const source = await findSource(job, dependencies.files);
	// What is refused by now would be refused after hours, too.
	if (mayDelete(job.input)) await dependencies.files.assertRemovable(job.viewer, source);
	const staged = await dependencies.files.stage(job.viewer, undefined, folderOf(source));
	let encoded: EncodedStep;
	let isEncoded = false;
	try {
		await job.checkpoint({ step: 'encoding', staged: staged.id });
		// Nobody else knows of the staged file: hours of work do not end with the database.
		encoded = await job.privately(async () => {
			const step = await encodeSource(job, source, staged, dependencies);
			await receipts.write(step);
			isEncoded = true;
			return step;
		});
	} catch (error) {
		// The server stops while the database is away: the next run finds the receipt, or removes the file.
		if (!isEncoded || job.isCancelled) await discard(staged, dependencies);
		throw error;
	}
	const save = async () => {
		await job.privately(() => job.checkpoint(encoded));
		await receipts.remove(encoded.staged);
	};
	const published = await publishOrKeep(job, staged, encoded, dependencies, save);
	return replaceOriginal(job, published, dependencies);
}

async function encodeSource(
	job: JobContext<Conversion>,
	source: ItemRef,
	staged: StagedFile,
	{ files, handbrake, log, temporaryFolder, timeLimitMs }: ConvertDependencies,
): Promise<EncodedStep> {
	const { viewer } = job;
	const found = await handbrake.find();
	if (found.installed === undefined) throw new Failure('unavailable', found.reason);
	const { installed } = found;
	const folder = await folderItem(viewer, source, files);
	const { file } = await files.open(viewer, source);
	try {
		assertChosen(file.item, job.input);
		const container = await assertVideo(baseName(source.path), file);
		const local = {
			folder: temporaryFolder,
			signal: job.signal,
			purpose: 'conversion',
			maxCopyBytes: Number.MAX_SAFE_INTEGER,
		};
		const losses = await withLocalFile(file, local, async ({ descriptor }) => {
			const film = await assertFilm(installed.ffprobe, descriptor, container, job.signal);
			await job.expect(expectedSeconds(film));
			return files.withDescriptor(viewer, { staged, folder: folderOf(source) }, (target) =>
				encode({
					job,
					installed,
					log,
					timeLimitMs,
					source: descriptor,
					sourceBytes: file.item.size,
					film,
					target,
					isSourceChanged: () => file.isChanged(),
				}),
			);
		});
		await staged.sync();
		const { id, version, size } = file.item;
		return {
			step: 'encoded',
			staged: staged.id,
			source: { id, version },
			path: source.path,
			...(folder === undefined ? {} : { folderItemId: folder.id }),
			sizeBefore: size,
			sizeAfter: await staged.size(),
			losses,
		};
	} finally {
		await file.close();
	}
}

/** Pixels that a small machine encodes in a second. */
const slowestEncoding = 10_000_000;

function expectedSeconds({ seconds, video: [track] }: Film): number {
	// Unknown ones are taken for a long film in HD.
	const { size, rate } = { size: track?.size || 1920 * 1080, rate: track?.rate || 25 };
	return ((seconds || 7200) * rate * size) / slowestEncoding;
}

/** The folder of the original, as long as it has its name. */
async function folderItem(viewer: Viewer, source: ItemRef, files: Files): Promise<WalkedItem | undefined> {
	const folder = folderOf(source);
	return folder.path === '' ? undefined : statIfPresent(files, viewer, folder);
}

/** Where the output goes: to the folder of the original, also if that has got another name or place meanwhile. */
async function folderNow(job: JobContext<Conversion>, encoded: EncodedStep, files: Files): Promise<ItemRef> {
	const { viewer, input, signal } = job;
	const { folderItemId, path = input.path } = encoded;
	const source = await itemAt(job, path, files);
	const folder = folderOf(source);
	if (folderItemId === undefined || (await folderItem(viewer, source, files))?.id === folderItemId) return folder;
	const found = await findById(files, viewer, folder, folderItemId, signal);
	return found?.type === 'directory' ? { ...folder, path: found.path } : folder;
}

async function publish(
	job: JobContext<Conversion>,
	staged: StagedFile,
	encoded: EncodedStep,
	{ files }: Pick<ConvertDependencies, 'files'>,
): Promise<PublishedStep> {
	const { viewer, input, signal } = job;
	const folder = await folderNow(job, encoded, files);
	const { name } = await retryWhileLocked(() => {
		signal.throwIfAborted();
		return files.publishOnce(viewer, folder, { staged, name: input.outputName });
	}, signal);
	const output = await statIfPresent(files, viewer, { ...folder, path: joinPath(folder.path, name) });
	const published: PublishedStep = {
		...encoded,
		step: 'published',
		folder: folder.path,
		name,
		outputId: output?.id ?? '',
		...(output === undefined ? {} : { outputMtime: output.mtime }),
		isRemoving: false,
	};
	await job.checkpoint(published);
	return published;
}

/** Keeps what was encoded if it can't be published now, for the next run. */
async function publishOrKeep(
	job: JobContext<Conversion>,
	staged: StagedFile,
	encoded: EncodedStep,
	dependencies: ConvertDependencies,
	save?: () => Promise<void>,
): Promise<PublishedStep> {
	const { viewer, signal } = job;
	const { log } = dependencies;
	try {
		await save?.();
		return await publish(job, staged, encoded, dependencies);
	} catch (error) {
		if (job.isCancelled) {
			// Does nothing to a published one.
			await discard(staged, dependencies);
			// What is away comes back, and then it goes on by itself.
		} else if (!signal.aborted && !isFailure(error, 'unavailable') && (await isStaged(staged))) {
			await dropKept(viewer, dependencies).catch(logged(log));
		}
		throw error;
	}
}

/**
 * Drops what the user's failed conversions have kept for a run that publishes it. It counts for no quota until a sweep removes it, a day
 * after it was written, so there is one of each user, beside those of conversions that go on.
 */
async function dropKept(
	viewer: JobContext<Conversion>['viewer'],
	dependencies: Pick<ConvertDependencies, 'takeSaved' | 'files' | 'receipts'>,
): Promise<void> {
	const stepOf = (saved: unknown) => conversionStep.safeParse(saved).data;
	for (const saved of await dependencies.takeSaved(viewer, (each) => stepOf(each)?.step === 'encoded')) {
		const step = stepOf(saved);
		if (step !== undefined) await dropStaged(viewer, step.staged, dependencies);
	}
}

/** Publishes the output of an earlier run, or finds it published; undefined if it is gone. */
async function publishAgain(
	job: JobContext<Conversion>,
	encoded: EncodedStep,
	dependencies: ConvertDependencies,
): Promise<PublishedStep | undefined> {
	const staged = await undefinedIf(dependencies.files.stage(job.viewer, encoded.staged), 'notFound');
	if (staged === undefined) return undefined;
	try {
		return await publishOrKeep(job, staged, encoded, dependencies);
	} catch (error) {
		// Else it is the folder that is missing.
		if (isFailure(error, 'notFound') && !(await isStaged(staged))) return undefined;
		throw error;
	}
}

/** False only for a file that is certainly gone. */
async function isStaged(staged: StagedFile): Promise<boolean> {
	try {
		await staged.size();
		return true;
	} catch (error) {
		return !isFailure(error, 'notFound');
	}
}

/**
 * Removes the original if that was requested, the output lacks nothing of it, is there as it was published and the original is unchanged
 * since the conversion, and gives the output its name if that is free then. Hours may have passed since the output was published.
 */
async function replaceOriginal(
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

/** Removes the incomplete output of a conversion that has got so far. */
export async function discardConversion(
	saved: unknown,
	owner: JobContext<Conversion>['viewer'],
	dependencies: Pick<ConvertDependencies, 'files' | 'receipts'>,
): Promise<void> {
	const step = conversionStep.safeParse(saved).data;
	if (step !== undefined && step.step !== 'published') await dropStaged(owner, step.staged, dependencies);
}

async function dropStaged(
	viewer: Viewer,
	id: string,
	{ files, receipts }: Pick<ConvertDependencies, 'files' | 'receipts'>,
): Promise<void> {
	await receipts.remove(id);
	try {
		await (await files.stage(viewer, id)).discard();
	} catch (error) {
		if (!isFailure(error, 'notFound')) throw error;
	}
}

/** Discards a staged file. A failure is only logged: the job's owner gets the original error. */
async function discard(
	staged: StagedFile,
	{ receipts, log }: Pick<ConvertDependencies, 'receipts' | 'log'>,
): Promise<void> {
	await receipts.remove(staged.id);
	await staged.discard().catch(logged(log));
}

const logged = (log: PluginLog) => (error: unknown) =>
	log.error({ err: error }, 'the output of an encoder could not be removed');

export function notAvailable(): Failure {
	return new Failure('unavailable', 'HandBrake CLI is not available');
}
