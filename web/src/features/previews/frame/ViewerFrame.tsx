import { shownName } from '@stowage/rules';
import { type CSSProperties, type Ref, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'react';
import { basePath } from '../../../api/client/basePath.js';
import { isComposing } from '../../../ui/keyboard/composing.js';
import { isEditable } from '../../../ui/keyboard/isEditable.js';
import { useLatest } from '../../../ui/useLatest.js';
import { mayOpenLink } from '../common/markup/links.js';
import frameScript from '../inFrame/viewerFrame.ts?worker&url';
import { connectFrame, type FrameLink } from './frameLink.js';
import type { ContentEvent, FrameCommand, FrameContent, FrameEvent } from './frameMessages.js';
import { useFreshFrame } from './useFreshFrame.js';

export interface ViewerFrameHandle {
	/** Sends a command. Nothing happens until the content is `opened` or `shown`. */
	send(command: FrameCommand): void;
}

export interface ViewerFrameProps {
	ref?: Ref<ViewerFrameHandle>;
	title: string;
	className?: string | undefined;
	style?: CSSProperties;
	/** What it shows; without it the frame is empty. */
	content: FrameContent | undefined;
	/** The keys that the viewer has a use for. In the frame they do nothing else. */
	keys?: readonly string[];
	onEvent: (event: ContentEvent) => void;
	/**
	 * Called when its content keeps it busy for too long: the viewer is to remove it, also after `failed`, which it
	 * reports by default.
	 */
	onSilent?: (() => void) | undefined;
}

const noKeys: readonly string[] = [];
/** The time limit for loading its script, on a slow connection. */
const maxLoadMs = 60_000;

/**
 * A frame with an origin and a policy of its own, in which a user's file is read, cleaned and laid out by one script
 * of ours, and by nothing else. Browsers give it a process of its own, so that no file keeps the page busy. Its keys
 * and links come back to the page.
 */
export function ViewerFrame({
	ref,
	title,
	className,
	style,
	content,
	keys = noKeys,
	onEvent,
	onSilent,
}: ViewerFrameProps) {
	const frame = useRef<HTMLIFrameElement>(null);
	const [link, setLink] = useState<FrameLink>();
	const latest = useLatest((event: FrameEvent) => {
		if (event.kind === 'key') forwardKey(event);
		else if (event.kind === 'link') {
			if (mayOpenLink(event.address)) window.open(event.address, '_blank', 'noopener,noreferrer');
		} else if (event.kind !== 'pong') onEvent(event);
	});

	const silent = useLatest(onSilent ?? (() => onEvent({ kind: 'failed' })));

	const isThere = useFreshFrame(link !== undefined);

	useEffect(() => () => link?.close(), [link]);
	useEffect(() => {
		if (link) return;
		const timer = setTimeout(() => latest.current({ kind: 'failed' }), maxLoadMs);
		return () => clearTimeout(timer);
	}, [link]);
	useEffect(() => {
		if (content) link?.send({ kind: 'open', content, keys });
	}, [link, content, keys]);
	useImperativeHandle(ref, () => ({ send: (command) => link?.send(command) }), [link]);
	useSelectAll(link);

	function connect() {
		const target = frame.current?.contentWindow;
		// A second document is not ours, and would keep the keys.
		if (link) onEvent({ kind: 'failed' });
		else if (target) {
			setLink(
				connectFrame(
					target,
					(event) => latest.current(event),
					() => silent.current(),
				),
			);
		}
	}

	if (!isThere) return null;
	return (
		<iframe
			ref={frame}
			className={className}
			style={style}
			title={shownName(title)}
			src={`${basePath}/viewer-frame?script=${scriptName}`}
			sandbox="allow-scripts"
			onLoad={connect}
		/>
	);
}

const scriptName = frameScript.slice(frameScript.lastIndexOf('/') + 1);

/** Ctrl+A selects what is in the frame, before the panel selects what is around it. */
function useSelectAll(link: FrameLink | undefined): void {
	useLayoutEffect(() => {
		const listen = (event: KeyboardEvent) => {
			const { key, ctrlKey, metaKey, altKey, shiftKey } = event;
			if (key.toLowerCase() !== 'a' || !(ctrlKey || metaKey) || altKey || shiftKey) return;
			if (isComposing(event) || isEditable(event.target)) return;
			event.preventDefault();
			link?.send({ kind: 'selectAll' });
		};
		window.addEventListener('keydown', listen, { capture: true });
		return () => window.removeEventListener('keydown', listen, { capture: true });
	}, [link]);
}

/** The keys of the viewer work in its frame too. */
function forwardKey({ kind: _, ...key }: Extract<FrameEvent, { kind: 'key' }>): void {
	document.body.dispatchEvent(new KeyboardEvent('keydown', { ...key, bubbles: true, cancelable: true }));
}
