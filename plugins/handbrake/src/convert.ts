import { Failure, isFailure, type JobContext } from '@stowage/plugin-api';
import { assertAllowed, convertDenial } from '@stowage/rules';
import { findSource, folderOf, mayDelete, sourceOf } from './chosenFilm.js';
import { type Conversion, conversionStep, type EncodedStep } from './conversion.js';
import type { ConvertDependencies } from './steps/ConvertDependencies.js';
import { discard, dropStaged } from './steps/discard.js';
import { encodeSource } from './steps/encodeSource.js';
import { publishAgain, publishOrKeep } from './steps/publish.js';
import { type ConversionResult, replaceOriginal } from './steps/replaceOriginal.js';

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
