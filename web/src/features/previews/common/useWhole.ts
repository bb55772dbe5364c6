import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { readWhole } from '../../../api/previews.js';

/** An address within this page for bytes under a type set by the page; it ends with its component. */
export function useBlobUrl(bytes: Uint8Array<ArrayBuffer> | undefined, type: string): string | undefined {
	const [made, setMade] = useState<{ bytes: Uint8Array; url: string }>();
	useEffect(() => {
		if (!bytes) return;
		const url = URL.createObjectURL(new Blob([bytes], { type }));
		setMade({ bytes, url });
		return () => URL.revokeObjectURL(url);
	}, [bytes, type]);
	return made && made.bytes === bytes ? made.url : undefined;
}

/** A whole file, kept only while it is shown. */
export function useWhole(url: string, id: string, limit: number, isWanted = true) {
	return useQuery({
		queryKey: ['preview', 'whole', id],
		queryFn: ({ signal }) => readWhole(url, limit, signal),
		enabled: isWanted,
		retry: false,
		gcTime: 0,
		staleTime: Number.POSITIVE_INFINITY,
		structuralSharing: false,
		refetchOnWindowFocus: false,
	});
}
