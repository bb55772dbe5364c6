import type { Area, Entry, MoveStep } from '@stowage/rules';
import type { TakenNames } from '../../../api/listings/takenNames.js';

/** What happens to an item whose name is taken: it gets another one, replaces the file that has it, or stays where it is. */
export type Resolution = 'rename' | 'replace' | 'skip';

/** A step whose name is taken in the folder that it goes into. */
export interface TakenStep<S extends MoveStep = MoveStep> {
	step: S;
	/** What has the name. */
	existing: Entry;
	/** A folder is never replaced, nor a file by a folder. */
	mayReplace: boolean;
}

/** A step that may replace a file. */
export type Replacing<S> = S & { replaced?: Entry };

/**
 * The steps to ask about. A copy beside its original gets another name without a question, and so does each further
 * item of one name: it would replace the one that was brought just before.
 */
export function takenSteps<S extends MoveStep>(
	steps: readonly S[],
	from: Area,
	to: Area,
	names: TakenNames,
): TakenStep<S>[] {
	const seen = new Set<string>();
	return steps.flatMap((step) => {
		const { item } = step;
		const existing = names.get(item.name);
		const isItself = existing && from === to && existing.path === item.path && existing.owner === item.owner;
		if (!existing || isItself || seen.has(item.name)) return [];
		seen.add(item.name);
		return [{ step, existing, mayReplace: existing.type === 'file' && item.type === 'file' }];
	});
}

/** The questions about a paste, and what was answered so far. */
export interface Questions {
	taken: readonly TakenStep[];
	answers: ReadonlyMap<MoveStep, Resolution>;
}

/** The steps without an answer; the first of them is asked next. */
export function unanswered({ taken, answers }: Questions): readonly TakenStep[] {
	return taken.filter(({ step }) => !answers.has(step));
}

/** Answers the next question, or all. What can't be replaced is asked about all the same. */
export function answer(questions: Questions, resolution: Resolution, isForAll: boolean): Questions {
	const answers = new Map(questions.answers);
	for (const { step, mayReplace } of unanswered(questions).slice(0, isForAll ? undefined : 1)) {
		if (resolution !== 'replace' || mayReplace) answers.set(step, resolution);
	}
	return { ...questions, answers };
}

export interface ResolvedSteps<S> {
	steps: Replacing<S>[];
	/** How many are skipped. */
	passedOver: number;
}

/** The steps that are left. What nothing was asked about gets another name if its name is taken by then. */
export function resolveSteps<S extends MoveStep>(steps: readonly S[], { taken, answers }: Questions): ResolvedSteps<S> {
	const replaced = new Map<MoveStep, Entry>(
		taken.flatMap(({ step, existing }) => (answers.get(step) === 'replace' ? [[step, existing] as const] : [])),
	);
	const left = steps.filter((step) => answers.get(step) !== 'skip');
	return {
		steps: left.map((step) => {
			const file = replaced.get(step);
			return file ? { ...step, replaced: file } : step;
		}),
		passedOver: steps.length - left.length,
	};
}
