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

/** Bytes before and after a conversion, where they are known. */
interface ConversionSizes {
	sizeBefore: number | null;
	sizeAfter: number | null;
}

/** How a conversion is doing. Sizes are told in the end. */
export interface ConversionStatus extends ResultOf<typeof handbrakeStatus>, ConversionSizes {}

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
	const sizes = status.status === 'completed' ? await fetchSizes(conversionId, signal) : noSizes;
	return { ...status, ...sizes };
}

export async function cancelConversion(conversionId: string): Promise<void> {
	await call(handbrakeCancel, { params: { conversionId } });
}

const noSizes: ConversionSizes = { sizeBefore: null, sizeAfter: null };

async function fetchSizes(id: string, signal: AbortSignal): Promise<ConversionSizes> {
	try {
		const { detail } = await call(findJob, { params: { id }, signal });
		const { sizeBefore = null, sizeAfter = null } = conversionDetail.parse(detail ?? {});
		return { sizeBefore, sizeAfter };
	} catch (error) {
		if (signal.aborted) throw error;
		// The file is converted, whether its size can be told or not.
		return noSizes;
	}
}
