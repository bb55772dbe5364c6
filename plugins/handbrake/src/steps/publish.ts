import {
	type Files,
	findById,
	type ItemRef,
	isFailure,
	type JobContext,
	joinPath,
	retryWhileLocked,
	type StagedFile,
	statIfPresent,
} from '@stowage/plugin-api';
import { undefinedIf } from '@stowage/rules';
import { folderItem, folderOf, itemAt } from '../chosenFilm.js';
import { type Conversion, conversionStep, type EncodedStep, type PublishedStep } from '../conversion.js';
import type { ConvertDependencies } from './ConvertDependencies.js';
import { discard, dropStaged, logged } from './discard.js';

/** Keeps what was encoded if it can't be published now, for the next run. */
export async function publishOrKeep(
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

/** Publishes the output of an earlier run, or finds it published; undefined if it is gone. */
export async function publishAgain(
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

/** Whether a staged file is there; false only for one that is certainly gone. */
async function isStaged(staged: StagedFile): Promise<boolean> {
	try {
		await staged.size();
		return true;
	} catch (error) {
		return !isFailure(error, 'notFound');
	}
}
