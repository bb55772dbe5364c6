import { copyItem, maxJobItems, moveItem, type PayloadInput, respondedAsync, startJob } from '@stowage/contract';
import { batchesOf, type Entry } from '@stowage/rules';
import { asMutation, call, fetchResponse, readResult } from '../client/client.js';
import { newIdempotencyKey, resending } from '../client/idempotency.js';

/** Several items that are copied or moved into one folder. */
export type Transfer = PayloadInput<typeof startJob>;

/** The jobs of a transfer, each with how many of the items it has, in their order. */
export interface StartedTransfer {
	jobs: readonly { id: string; items: number }[];
	/** Why the items that no job has were not queued. */
	refusal: unknown;
}

/** Starts it, with as few jobs as possible. */
export async function startTransfer({ items, ...rest }: Transfer): Promise<StartedTransfer> {
	const jobs: { id: string; items: number }[] = [];
	try {
		for (const part of batchesOf(items, maxJobItems)) {
			const payload = { ...rest, items: part };
			const headers = { 'idempotency-key': newIdempotencyKey() };
			const { id } = await resending(() => call(startJob, { payload, headers }));
			jobs.push({ id, items: part.length });
		}
		return { jobs, refusal: undefined };
	} catch (refusal) {
		return { jobs, refusal };
	}
}

/** The answer to a call for one item: where the item is, or the job that continues if it takes longer. */
export type SingleTransfer = { entry: Entry } | { jobId: string };

/** Copies one item. */
export function copyOne(payload: PayloadInput<typeof copyItem>): Promise<SingleTransfer> {
	return sendAsync(copyItem, payload);
}

/** Moves one item. */
export function moveOne(payload: PayloadInput<typeof moveItem>): Promise<SingleTransfer> {
	return sendAsync(moveItem, payload);
}

async function sendAsync<E extends typeof copyItem | typeof moveItem>(
	endpoint: E,
	payload: PayloadInput<E>,
): Promise<SingleTransfer> {
	return asMutation(async () => {
		const response = await fetchResponse<E>(endpoint, { payload, headers: { prefer: 'respond-async' } });
		if (response.status !== 202) return readResult(endpoint, response, undefined);
		return readResult({ result: respondedAsync }, response, undefined);
	});
}
