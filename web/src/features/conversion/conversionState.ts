import type { Area, ConversionFormat, Entry } from '@stowage/rules';
import { conversionRateFactor } from '@stowage/rules';
import type { ConversionRequest, ConversionStatus } from '../../api/jobs/conversions.js';
import { isActive } from '../../api/jobs/jobs.js';

/** The options for all videos. */
export interface ConversionChoice {
	format: ConversionFormat;
	/** The chosen quality: more is better and larger. */
	quality: number;
	deletesOriginal: boolean;
}

/** A conversion that was started. */
export interface Conversion extends Omit<ConversionStatus, 'conversionId' | 'fileName' | 'startTime' | 'endTime'> {
	id: string;
	video: Entry;
	/** Whether it is over by the server's last word. */
	hasEnded: boolean;
	/** Whether its cancellation was requested, and the server has not answered. */
	isCancelling: boolean;
}

/** A cancellation that the server has not answered yet, or that it has accepted. */
export type Cancellation = 'asked' | 'answered';

export type OverallState = 'setup' | Conversion['status'];

/**
 * The state on the dialog's chip: the first one of this order that any conversion has. Those that could not be started
 * have failed.
 */
export function overallState(conversions: readonly Pick<Conversion, 'status'>[], notStarted = 0): OverallState {
	if (conversions.length === 0) return 'setup';
	const statuses = new Set(conversions.map(({ status }) => status));
	if (notStarted > 0) statuses.add('failed');
	const order = ['processing', 'queued', 'failed', 'cancelled'] as const;
	return order.find((status) => statuses.has(status)) ?? 'completed';
}

export function conversionRequest(area: Area, video: Entry, choice: ConversionChoice): ConversionRequest {
	return {
		filePath: video.path,
		outputFormat: choice.format,
		quality: conversionRateFactor(choice.quality),
		deleteOriginal: choice.deletesOriginal,
		type: area,
		...(video.owner === undefined ? {} : { owner: video.owner }),
	};
}

/** A conversion that was just started. */
export function newConversion(id: string, video: Entry, deletesOriginal: boolean): Conversion {
	return {
		id,
		video,
		hasEnded: false,
		isCancelling: false,
		status: 'queued',
		progress: 0,
		currentFps: null,
		averageFps: null,
		eta: null,
		error: null,
		outputPath: null,
		phase: null,
		hold: null,
		sizeBefore: video.size,
		sizeAfter: null,
		deletesOriginal,
		isOriginalDeleted: null,
		keptReason: null,
		losses: [],
	};
}

/**
 * Applies the server's state. A conversion whose cancellation the server has accepted counts as cancelled until it has
 * ended, perhaps in another way.
 */
export function withStatus(
	conversion: Conversion,
	status: ConversionStatus | undefined,
	cancellation: Cancellation | undefined,
): Conversion {
	const { id, sizeBefore, deletesOriginal } = conversion;
	const current = status
		? { ...conversion, ...status, id, deletesOriginal, sizeBefore: status.sizeBefore ?? sizeBefore }
		: conversion;
	if (!isActive(current)) return { ...current, hasEnded: true };
	return cancellation === 'answered'
		? { ...current, status: 'cancelled' }
		: { ...current, isCancelling: cancellation === 'asked' };
}

/** The new files. */
export function outputPaths(conversions: readonly Conversion[]): string[] {
	return conversions.flatMap(({ status, outputPath }) =>
		status === 'completed' && outputPath !== null ? [outputPath] : [],
	);
}

const shownNames = 3;

/** The videos whose output names are previewed, and how many more there are. */
export function previewed(videos: readonly Entry[]): { shown: readonly Entry[]; more: number } {
	return { shown: videos.slice(0, shownNames), more: Math.max(0, videos.length - shownNames) };
}
