import { type Ref, useEffect, useImperativeHandle, useRef } from 'react';
import { basePath } from '../../../api/client/basePath.js';
import { mayOpenLink } from '../common/links.js';

export interface ViewerFrameHandle {
	/** Undefined until the frame is loaded. */
	document: Document | undefined;
}

export interface ViewerFrameProps {
	ref?: Ref<ViewerFrameHandle>;
	title: string;
	className?: string | undefined;
	/** It is there and empty. */
	onReady: (document: Document) => void;
	/** A link within the file was clicked. */
	onLink?: (address: string) => void;
}

/**
 * An empty frame with a policy of its own, in which nothing runs, for the sanitized content of a user's file. The page fills it, and listens to its
 * keys and links.
 */
export function ViewerFrame({ ref, title, className, onReady, onLink }: ViewerFrameProps) {
	const frame = useRef<HTMLIFrameElement>(null);
	const latest = useRef({ onReady, onLink });
	useEffect(() => {
		latest.current = { onReady, onLink };
	});
	useImperativeHandle(ref, () => ({ document: frame.current?.contentDocument ?? undefined }), []);

	function prepare() {
		const inside = frame.current?.contentDocument;
		if (!inside) return;
		inside.addEventListener('keydown', forwardKey);
		const follow = (event: Event) => {
			const link = (event.target as Element).closest?.('a, area');
			if (!link) return;
			// Whatever it is, the frame never goes there by itself.
			event.preventDefault();
			const address = (link.getAttribute('href') ?? link.getAttributeNS(xlink, 'href'))?.trim();
			if (address === undefined) return;
			if (mayOpenLink(address)) window.open(address, '_blank', 'noopener,noreferrer');
			else if (!/^https?:/i.test(address)) latest.current.onLink?.(address);
		};
		inside.addEventListener('click', follow);
		// The middle button.
		inside.addEventListener('auxclick', (event) => event.button === 1 && follow(event));
		latest.current.onReady(inside);
	}

	return (
		<iframe
			ref={frame}
			className={className}
			title={title}
			src={`${basePath}/viewer-frame`}
			sandbox="allow-same-origin"
			onLoad={prepare}
		/>
	);
}

/** The older way of a drawing to name an address. */
const xlink = 'http://www.w3.org/1999/xlink';

/** The keys of the viewer work in its frame too. */
function forwardKey(event: KeyboardEvent): void {
	const { key, code, ctrlKey, metaKey, altKey, shiftKey } = event;
	const copy = new KeyboardEvent('keydown', {
		key,
		code,
		ctrlKey,
		metaKey,
		altKey,
		shiftKey,
		bubbles: true,
		cancelable: true,
	});
	if (!document.body.dispatchEvent(copy)) event.preventDefault();
}
