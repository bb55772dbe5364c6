import type { Area, ConversionFormat, Entry } from '@stowage/rules';
import { conversionRateFactor } from '@stowage/rules';
import type { ConversionRequest, ConversionStatus } from '../../api/jobs/conversions.js';

/** The options for all videos. */
export interface ConversionChoice {
	format: ConversionFormat;
	/** More is better. */
	quality: number;
	deletesOriginal: boolean;
}

/** A conversion that was started. */
export interface Conversion {
	id: string;
	video: Entry;
	status: ConversionStatus['status'];
	/** Percent. */
	progress: number;
	currentFps: number | null;
	averageFps: number | null;
	eta: string | null;
	error: string | null;
	outputPath: string | null;
	sizeBefore: number | null;
	sizeAfter: number | null;
	deletesOriginal: boolean;
	isOriginalDeleted: boolean | null;
	/** What the new file lacks of the original. */
	losses: readonly string[];
}

export type OverallState = 'setup' | Conversion['status'];

/** The state on the dialog's chip: the first one of this order that any conversion has. */
export function overallState(conversions: readonly Pick<Conversion, 'status'>[]): OverallState {
	if (conversions.length === 0) return 'setup';
	const order = ['processing', 'queued', 'failed', 'cancelled'] as const;
	return order.find((status) => conversions.some((conversion) => conversion.status === status)) ?? 'completed';
}

export function isActive({ status }: Pick<Conversion, 'status'>): boolean {
	return status === 'queued' || status === 'processing';
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
	known: ConversionStatus | undefined,
	isCancelled: boolean,
): Conversion {
	const current = known
		? { ...conversion, ...known, id: conversion.id, sizeBefore: known.sizeBefore ?? conversion.sizeBefore }
		: conversion;
	return isCancelled && isActive(current) ? { ...current, status: 'cancelled' } : current;
}

const shownNames = 3;

/** The videos whose output names are previewed, and how many more there are. */
export function previewed(videos: readonly Entry[]): { shown: readonly Entry[]; more: number } {
	return { shown: videos.slice(0, shownNames), more: Math.max(0, videos.length - shownNames) };
}
