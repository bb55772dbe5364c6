import { Button } from '@blueprintjs/core';
import { ShareIcon } from '@blueprintjs/icons';
import { shownName } from '@stowage/rules';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { capabilitiesQuery } from '../../../api/capabilities.js';
import { useFileSource } from '../../../api/sources/FileSource.js';
import { messages as pageMessages } from '../../../messages.js';
import { FormDialog } from '../../../ui/dialogs/FormDialog.js';
import { ViewerError } from '../common/viewer/ViewerError.js';
import { ViewerLoading } from '../common/viewer/ViewerLoading.js';
import type { ViewerProps } from '../common/viewer/ViewerProps.js';
import viewerStyles from '../common/viewer/viewers.module.css';
import { previewMessages as messages } from '../messages.js';
import styles from './DocumentViewer.module.css';

const viewers = [
	{
		name: 'Office Online',
		addressOf: (url: string) => `https://view.officeapps.live.com/op/embed.aspx?src=${encodeURIComponent(url)}`,
	},
	{
		name: 'Google Docs Viewer',
		addressOf: (url: string) => `https://docs.google.com/gview?embedded=true&url=${encodeURIComponent(url)}`,
	},
] as const;

type State =
	/** Nothing is sent before the user has agreed, for this file and this viewer. */
	| { status: 'asking'; viewer: number }
	| { status: 'refused' }
	| { status: 'shown'; viewer: number; url: string }
	| { status: 'failed'; reason: string };

/** A document that only another company's viewer can show, in a frame with that viewer. */
export function ExternalViewer({ entry, file, extension }: ViewerProps & { extension: string }) {
	const { viewerLink } = useFileSource();
	const { data: capabilities, error, isFetching, isFetched, refetch } = useQuery(capabilitiesQuery);
	const [state, setState] = useState<State>({ status: 'asking', viewer: 0 });
	const title = messages.cannotPreview(extension);

	async function hand(asked: State & { status: 'asking' }): Promise<boolean> {
		if (!viewerLink) return true;
		const { viewer } = asked;
		const answer: Promise<State> = viewerLink(entry).then(
			(url) => ({ status: 'shown', viewer, url }),
			(error) => ({ status: 'failed', reason: error instanceof Error ? error.message : '' }),
		);
		const next = await answer;
		// It may have been cancelled meanwhile: then nothing is sent.
		setState((current) => (current === asked ? next : current));
		return false;
	}

	if (!isFetched) return <ViewerLoading />;
	if (!viewerLink) return <ViewerError file={file} title={title} />;
	if (!capabilities) {
		return (
			<ViewerError file={file} title={title} reason={error?.message}>
				<Button text={pageMessages.retry} loading={isFetching} onClick={() => void refetch()} />
			</ViewerError>
		);
	}
	if (!capabilities.externalViewers) return <ViewerError file={file} title={title} text={messages.externalOff} />;
	if (!capabilities.hasPublicHttps) return <ViewerError file={file} title={title} text={messages.externalNeedsHttps} />;
	if (state.status === 'failed') return <ViewerError file={file} title={title} text={state.reason} />;
	if (state.status === 'shown') {
		const shown = viewers[state.viewer] ?? viewers[0];
		return (
			<div className={styles.viewer}>
				<iframe
					key={shown.name}
					className={`${styles.frame} ${styles.external}`}
					title={messages.shownBy(shown.name)}
					src={shown.addressOf(state.url)}
					sandbox="allow-scripts allow-same-origin allow-forms allow-popups"
					referrerPolicy="no-referrer"
					allow="fullscreen"
				/>
				<div className={viewerStyles.bar}>
					<span className={styles.note}>{messages.shownBy(shown.name)}</span>
					<span className={viewerStyles.spacer} />
					<Button
						variant="minimal"
						text={messages.tryOther}
						onClick={() => setState({ status: 'asking', viewer: (state.viewer + 1) % viewers.length })}
					/>
				</div>
			</div>
		);
	}
	const asked = state.status === 'asking' ? state : undefined;
	return (
		<>
			<ViewerError file={file} title={title}>
				<Button
					icon={<ShareIcon />}
					text={messages.openExternally}
					onClick={() => setState({ status: 'asking', viewer: 0 })}
				/>
			</ViewerError>
			<FormDialog
				isOpen={asked !== undefined}
				title={messages.openExternally}
				confirm={messages.openExternally}
				focusesConfirm
				onConfirm={async () => asked !== undefined && hand(asked)}
				onClose={() => setState({ status: 'refused' })}
				onClosed={() => {}}
			>
				<p>{messages.externalQuestion(shownName(file.name), (asked && viewers[asked.viewer]?.name) ?? '')}</p>
			</FormDialog>
		</>
	);
}
