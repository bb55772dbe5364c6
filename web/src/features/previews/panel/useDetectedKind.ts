import { effectivePreviewKind, type PreviewKind, previewOf } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { type FirstBytes, firstBytesQuery } from '../common/bytes/firstBytes.js';
import type { PreviewFile } from '../common/bytes/previewFile.js';
import { errorWithoutData } from '../common/bytes/previewQuery.js';

export interface DetectedKind {
	/** The kind by the first bytes, or by the name as long as these are not there. */
	kind: PreviewKind | 'unknown';
	first: FirstBytes | undefined;
	/** Why these could not be read; none once they were. */
	error: Error | null;
	/** Reads them again. */
	retry: () => void;
}

/** Reads the first bytes of a file that is on show, which say what it really is. */
export function useDetectedKind(file: PreviewFile, isShown: boolean): DetectedKind {
	const named = previewOf(file.name, file.size).kind;
	const reading = useQuery({ ...firstBytesQuery(file), enabled: isShown });
	const { data: first } = reading;
	const kind = first && named !== 'unknown' ? effectivePreviewKind(named, first.bytes) : named;
	return { kind, first, error: errorWithoutData(reading), retry: () => void reading.refetch() };
}
