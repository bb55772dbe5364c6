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
	deletesOriginal: boolean;
}

export type OverallState = 'setup' | Conversion['status'];

/** The state on the dialog's chip: the first one of this order that any conversion has. */
export function overallState(conversions: readonly Pick<Conversion, 'status'>[]): OverallState {
	if (conversions.length === 0) return 'setup';
	const order = ['processing', 'queued', 'failed', 'cancelled'] as const;
	return order.find((status) => conversions.some((conversion) => conversion.status === status)) ?? 'completed';
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

/** One that was just started. */
export function newConversion(id: string, video: Entry, deletesOriginal: boolean): Conversion {
	return {
		id,
		video,
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
		losses: [],
	};
}

/** Applies the server's state. A conversion that was cancelled here stays so until the server has ended it. */
export function withStatus(
	conversion: Conversion,
	status: ConversionStatus | undefined,
	isCancelled: boolean,
): Conversion {
	const current = status
		? { ...conversion, ...status, id: conversion.id, sizeBefore: status.sizeBefore ?? conversion.sizeBefore }
		: conversion;
	return isCancelled && isActive(current) ? { ...current, status: 'cancelled' } : current;
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
