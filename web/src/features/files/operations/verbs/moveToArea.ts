import { moveItem } from '@stowage/contract';
import { type Entry, type MoveDirection, type MoveStep, moveToOtherArea, parentPath, parsePath } from '@stowage/rules';
import { call } from '../../../../api/client/client.js';
import { nameItems } from '../../messages.js';
import { undoMoves } from '../../undo/reversals.js';
import { operationMessages as messages } from '../messages.js';
import type { Replacing, ResolvedSteps } from '../taken.js';
import { moveCall, type TransferPlan } from '../useTransfer.js';
import type { OperationParts } from './OperationParts.js';
import type { VerbTexts } from './outcomeNotice.js';
import { settleSteps } from './settleNames.js';

type AreaStep = Replacing<MoveStep & { entry: Entry }>;

/** 'Move to Public' and 'Move back to Private'. */
export async function moveToArea(
	parts: OperationParts,
	direction: MoveDirection,
	entries: readonly Entry[],
): Promise<void> {
	const { area, outcomes, forget, refetch, remember, kept } = parts;
	const settled = await settleMoves(parts, direction, entries);
	if (!settled) return;
	const { steps } = settled;
	if (steps.length === 0) return outcomes.skipped(messages.skipped(nameItems(entries)));
	const outcome = await send(parts, messages.moving(nameItems(steps.map(({ item }) => item))), direction, steps);
	const moved = outcome.done.map(({ entry }) => entry);
	forget(area, moved);
	refetch();
	const offer = moved.length > 0 ? remember(undoMoves(outcome.placed, kept.hasVersions)) : {};
	const ended = { done: moved, failed: outcome.failed.length, left: outcome.left.length, reason: outcome.reason };
	outcomes.ended(texts[direction], { ...ended, skipped: settled.passedOver }, offer);
}

const texts: Readonly<Record<MoveDirection, VerbTexts>> = {
	toPublic: {
		verb: 'Moved',
		done: messages.movedToPublic,
		none: messages.moveToPublicFailed,
		partly: messages.moveToPublicFailed,
		cancelled: messages.moveCancelled,
	},
	toPrivate: {
		verb: 'Moved',
		done: messages.movedToPrivate,
		none: messages.moveToPrivateFailed,
		partly: messages.moveToPrivateFailed,
		cancelled: messages.moveCancelled,
	},
};

/** The steps, after the questions about each folder there. Both areas are folders of the private one. */
async function settleMoves(
	parts: OperationParts,
	direction: MoveDirection,
	entries: readonly Entry[],
): Promise<ResolvedSteps<MoveStep & { entry: Entry }> | undefined> {
	const steps = entries.map((entry) => ({ ...moveToOtherArea(direction, entry), entry }));
	const settled: ResolvedSteps<(typeof steps)[number]> = { steps: [], passedOver: 0 };
	for (const folder of new Set(steps.map(({ toPath }) => parentPath(toPath)))) {
		const inside = steps.filter(({ toPath }) => parentPath(toPath) === folder);
		const part = await settleSteps(parts, inside, { from: 'public', to: 'private', folder });
		if (!part) return undefined;
		settled.steps.push(...part.steps);
		settled.passedOver += part.passedOver;
	}
	return settled;
}

/** Items of several folders, such as those of a search, are moved one by one. */
async function send(
	{ runBatch, runTransfer }: OperationParts,
	title: string,
	direction: MoveDirection,
	steps: readonly AreaStep[],
) {
	const [folder, ...others] = new Set(steps.map(({ item }) => parentPath(parsePath(item.path))));
	if (folder === undefined || others.length > 0) {
		const placed: AreaStep[] = [];
		const outcome = await runBatch(
			title,
			steps,
			async (step) => {
				const { entry } = await call(moveItem, { payload: moveCall([step]) });
				placed.push({ ...step, toPath: parsePath(entry.path) });
			},
			{ isForGood: steps.some(({ replaced }) => replaced !== undefined) },
		);
		return { ...outcome, placed };
	}
	const to = direction === 'toPublic' ? 'public' : 'private';
	const from = direction === 'toPublic' ? 'private' : 'public';
	const plan = { kind: 'move', from, to, directory: folder, steps } satisfies TransferPlan;
	return runTransfer(title, plan);
}
