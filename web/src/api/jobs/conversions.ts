import {
	handbrakeCancel,
	handbrakeCheck,
	handbrakeConvert,
	handbrakeStatus,
	type PayloadInput,
	type ResultOf,
} from '@stowage/contract';
import { call } from '../client/client.js';
import { resending } from '../client/idempotency.js';

export type ConversionRequest = PayloadInput<typeof handbrakeConvert>;

/** The state of a conversion. Its result is available at the end. */
export type ConversionStatus = ResultOf<typeof handbrakeStatus>;

/** Whether the server can convert videos now. */
export async function canConvert(): Promise<boolean> {
	return (await call(handbrakeCheck)).available;
}

/** Queues a conversion; returns its id. With the key of one that is queued already it returns the id of that. */
export async function startConversion(payload: ConversionRequest, key: string): Promise<string> {
	const headers = { 'idempotency-key': key };
	return (await resending(() => call(handbrakeConvert, { payload, headers }))).conversionId;
}

export async function fetchConversion(conversionId: string, signal: AbortSignal): Promise<ConversionStatus> {
	return call(handbrakeStatus, { params: { conversionId }, signal });
}

export async function cancelConversion(conversionId: string): Promise<void> {
	await resending(() => call(handbrakeCancel, { params: { conversionId } }));
}
