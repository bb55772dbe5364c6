import { useEffect, useState } from 'react';

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
