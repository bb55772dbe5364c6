import {
	conversionDetail,
	findJob,
	handbrakeCancel,
	handbrakeCheck,
	handbrakeConvert,
	handbrakeStatus,
	type PayloadInput,
	type ResultOf,
} from '@stowage/contract';
import { call } from '../client/client.js';

export type ConversionRequest = PayloadInput<typeof handbrakeConvert>;

/** The result of a conversion, as far as it is known. */
interface ConversionResult {
	/** Bytes. */
	sizeBefore: number | null;
	sizeAfter: number | null;
	isOriginalDeleted: boolean | null;
	/** What the new file lacks of the original, in words. */
	losses: readonly string[];
}

/** The state of a conversion. Its result is available at the end. */
export interface ConversionStatus extends ResultOf<typeof handbrakeStatus>, ConversionResult {}

/** Whether the server can convert videos now. */
export async function canConvert(): Promise<boolean> {
	return (await call(handbrakeCheck)).available;
}

/** Queues a conversion; returns its id. */
export async function startConversion(payload: ConversionRequest): Promise<string> {
	return (await call(handbrakeConvert, { payload })).conversionId;
}

export async function fetchConversion(conversionId: string, signal: AbortSignal): Promise<ConversionStatus> {
	const status = await call(handbrakeStatus, { params: { conversionId }, signal });
	const result = status.status === 'completed' ? await fetchResult(conversionId, signal) : unknownResult;
	return { ...status, ...result };
}

export async function cancelConversion(conversionId: string): Promise<void> {
	await call(handbrakeCancel, { params: { conversionId } });
}

const unknownResult: ConversionResult = { sizeBefore: null, sizeAfter: null, isOriginalDeleted: null, losses: [] };

async function fetchResult(id: string, signal: AbortSignal): Promise<ConversionResult> {
	try {
		const { detail } = await call(findJob, { params: { id }, signal });
		const result = conversionDetail.parse(detail ?? {});
		const { sizeBefore = null, sizeAfter = null, isOriginalDeleted = null, losses } = result;
		return { sizeBefore, sizeAfter, isOriginalDeleted, losses: losses ?? [] };
	} catch (error) {
		if (signal.aborted) throw error;
		// The file is converted, whether its size is known or not.
		return unknownResult;
	}
}
