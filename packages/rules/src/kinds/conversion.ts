import { normalizeName, splitName } from '../names/names.js';
import { maxNameBytes } from '../names/paths.js';
import { truncateToBytes, utf8Length } from '../names/text.js';
import { fileType } from './fileTypes.js';

/** The target formats of a video conversion (spec, section 5). Each is the extension of its files. */
export const conversionFormats = ['mp4', 'mkv', 'webm'] as const;

export type ConversionFormat = (typeof conversionFormats)[number];

export const defaultConversionFormat: ConversionFormat = 'mp4';

/** The quality that a person chooses: more is better and larger. */
export const conversionQuality = { min: 18, max: 35, step: 1, default: 28 } as const;

/** The constant rate factor of a chosen quality: less is better and larger. It has the same range. */
export function conversionRateFactor(quality: number): number {
	return conversionQuality.min + conversionQuality.max - quality;
}

/** A chosen quality in words (spec, section 5). */
export function conversionQualityLabel(quality: number): string {
	if (quality >= 35) return 'Maximum Quality (Very Large Files)';
	if (quality >= 30) return 'High Quality (Large Files)';
	if (quality >= 25) return 'Good Quality (Medium Files)';
	if (quality >= 20) return 'Low Quality (Small Files)';
	return 'Minimum Quality (Very Small Files)';
}

/**
 * The name of a converted video: the base name where the original is deleted, else with `_converted`. One that would grow past 255 bytes
 * is shortened before its suffix. The server picks another where it is taken.
 */
export function convertedName(fileName: string, format: ConversionFormat, deletesOriginal: boolean): string {
	const suffix = `${deletesOriginal ? '' : '_converted'}.${format}`;
	return truncateToBytes(splitName(fileName).base, maxNameBytes - utf8Length(suffix)) + suffix;
}

/**
 * The name that a person gave a converted video, as it is stored: with the extension of its format, in place of another one of a video.
 * Throws `invalidName` for one that no file can have.
 */
export function conversionOutputName(requestedName: string, format: ConversionFormat): string {
	const name = normalizeName(requestedName);
	const base = fileType(name) === 'video' ? splitName(name).base : name;
	return normalizeName(`${base}.${format}`);
}
