import { Failure } from '@stowage/rules';
import { z } from 'zod';
import { endpoint } from './define.js';
import type { AnyEndpoint } from './endpoint.js';
import { conversionPhase, jobHold, jobStatus } from './jobs.js';
import { area, itemPath, owner } from './schemas.js';

export const handbrakeCheck = endpoint({
	method: 'GET',
	path: '/api/handbrake/check',
	audience: 'user',
	result: z.object({ available: z.boolean(), version: z.string().optional() }),
});

export const handbrakeConvert = endpoint({
	method: 'POST',
	path: '/api/handbrake/convert',
	audience: 'user',
	payload: z.strictObject({
		filePath: itemPath,
		outputFormat: z.enum(['mp4', 'mkv', 'webm']),
		/** The constant rate factor: less is better and larger. */
		quality: z.number().int().min(18).max(35),
		deleteOriginal: z.boolean(),
		customOutputName: z.string().optional(),
		type: area.optional(),
		owner: owner.optional(),
	}),
	result: z.object({ conversionId: z.string() }),
});

export const handbrakeStatus = endpoint({
	method: 'GET',
	path: '/api/handbrake/status/{conversionId}',
	audience: 'user',
	result: z.object({
		conversionId: z.string(),
		fileName: z.string(),
		status: jobStatus,
		/** Percent. */
		progress: z.number(),
		currentFps: z.number().nullable(),
		averageFps: z.number().nullable(),
		/** Such as `1h2m3s`. */
		eta: z.string().nullable(),
		error: z.string().nullable(),
		/** Milliseconds since the epoch. */
		startTime: z.number().nullable(),
		endTime: z.number().nullable(),
		/** Relative to the area. */
		outputPath: z.string().nullable(),
		// An older version of another node does not answer these.
		phase: conversionPhase.nullable().default(null),
		hold: jobHold.nullable().default(null),
		/** Bytes of the original and the new file, at the end. */
		sizeBefore: z.number().nullable().default(null),
		sizeAfter: z.number().nullable().default(null),
		/** Whether it was requested that the original is deleted; at the end whether it was. */
		deletesOriginal: z.boolean().default(false),
		isOriginalDeleted: z.boolean().nullable().default(null),
		/** At the end: why else the original was kept that was to be deleted, as a sentence, where there is more to say. */
		keptReason: z.string().nullable().default(null),
		/** At the end: what the new file lacks, in words. */
		losses: z.array(z.string()).default([]),
	}),
});

export const handbrakeCancel = endpoint({
	method: 'POST',
	path: '/api/handbrake/cancel/{conversionId}',
	audience: 'user',
	result: z.object({ message: z.string() }),
});

interface OptionalEndpoint {
	endpoint: AnyEndpoint;
	/** Responds if no plugin does, or throws the reason. */
	whenAbsent(): object;
}

const noHandbrake = () => {
	throw new Failure('unavailable', 'HandBrake CLI is not available');
};

/** The calls of plugins, and their responses on a server without them. */
export const optionalEndpoints: readonly OptionalEndpoint[] = [
	{ endpoint: handbrakeCheck, whenAbsent: () => ({ available: false }) },
	{ endpoint: handbrakeConvert, whenAbsent: noHandbrake },
	{ endpoint: handbrakeStatus, whenAbsent: noHandbrake },
	{ endpoint: handbrakeCancel, whenAbsent: noHandbrake },
];
