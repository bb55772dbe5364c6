import type { Area, MoveStep, PastePlan, StoragePath } from '@stowage/rules';
import type { TakenNames } from '../../../../api/listings/takenNames.js';
import { folderName } from '../../location/folderTitle.js';
import { operationMessages as messages } from '../messages.js';
import { type ResolvedSteps, resolveSteps, takenSteps } from '../taken.js';
import type { OperationParts } from './OperationParts.js';

/** Where items go: into a folder of the area `to`, from the area `from`. */
export interface Target {
	from: Area;
	to: Area;
	folder: StoragePath;
}

type AllowedPlan = Exclude<PastePlan, { kind: 'refused' }>;

/** The plan of a paste without what is skipped. Undefined if it is given up. */
export async function settlePlan(parts: OperationParts, plan: AllowedPlan, target: Target) {
	if (plan.kind === 'copy') {
		const settled = await settleSteps(parts, plan.steps, target);
		return settled && { ...plan, ...settled };
	}
	const settled = await settleSteps(parts, plan.steps, target);
	return settled && { ...plan, ...settled };
}

/**
 * The steps into one folder without those that are skipped, after all questions about names that are taken. Undefined
 * if it is given up.
 */
export async function settleSteps<S extends MoveStep>(
	{ lookUp, namesIn, ask }: OperationParts,
	steps: readonly S[],
	{ from, to, folder: target }: Target,
): Promise<ResolvedSteps<S> | undefined> {
	// Without the listing the server decides: whatever has its name taken gets another one.
	const unknown = (): TakenNames => new Map();
	const names = await lookUp(messages.comparing(folderName(to, target)), () => namesIn(to, target).catch(unknown));
	const questions = names && (await ask(takenSteps(steps, from, to, names), to, target));
	return questions && resolveSteps(steps, questions);
}
