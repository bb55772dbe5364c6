import { isFailure, type JobContext, type PluginLog, type StagedFile, type Viewer } from '@stowage/plugin-api';
import { type Conversion, conversionStep } from '../conversion.js';
import type { ConvertDependencies } from './ConvertDependencies.js';

/** Removes the incomplete output of a conversion that has got so far. */
export async function discardConversion(
	saved: unknown,
	owner: JobContext<Conversion>['viewer'],
	dependencies: Pick<ConvertDependencies, 'files' | 'receipts'>,
): Promise<void> {
	const step = conversionStep.safeParse(saved).data;
	if (step !== undefined && step.step !== 'published') await dropStaged(owner, step.staged, dependencies);
}

/** Discards the staged file of an earlier run, if it is there. */
export async function dropStaged(
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
export async function discard(
	staged: StagedFile,
	{ receipts, log }: Pick<ConvertDependencies, 'receipts' | 'log'>,
): Promise<void> {
	await receipts.remove(staged.id);
	await staged.discard().catch(logged(log));
}

/** Logs that an output is left. */
export const logged = (log: PluginLog) => (error: unknown) =>
	log.error({ err: error }, 'the output of an encoder could not be removed');
