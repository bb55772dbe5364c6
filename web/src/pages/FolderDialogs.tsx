import { useState } from 'react';
import { DownloadDialog } from '../features/downloads/DownloadDialog.js';
import { FileDialogs } from '../features/files/dialogs/FileDialogs.js';
import type { DialogProps, OtherDialog } from '../features/files/dialogs/fileDialog.js';
import type { BrowserLocation } from '../features/files/location/location.js';
import { TemporaryLinkDialog } from '../features/links/TemporaryLinkDialog.js';
import { lazyComponent } from '../ui/lazyComponent.js';
import type { FolderActions } from './useFolderActions.js';

const AlreadyThereDialog = lazyComponent(
	async () => (await import('../features/files/dialogs/AlreadyThereDialog.js')).AlreadyThereDialog,
);
const ConvertDialog = lazyComponent(
	async () => (await import('../features/conversion/ConvertDialog.js')).ConvertDialog,
);
const MembersDialog = lazyComponent(async () => (await import('../features/members/MembersDialog.js')).MembersDialog);
const LeaveDialog = lazyComponent(async () => (await import('../features/members/LeaveDialog.js')).LeaveDialog);
const ShareDialog = lazyComponent(async () => (await import('../features/links/shares/ShareDialog.js')).ShareDialog);

export interface FolderDialogsProps {
	location: BrowserLocation;
	/** The owner of a shared folder. */
	owner: string | undefined;
	actions: FolderActions;
	/** A dialog has faded out. */
	onClosed: () => void;
}

/** The dialogs of all actions on files. */
export function FolderDialogs({ location: { area, directory }, owner, actions, onClosed }: FolderDialogsProps) {
	const renderOther = (dialog: OtherDialog, props: DialogProps) => {
		const onLoadFailed = () => {
			props.onClose();
			props.onClosed();
		};
		switch (dialog.kind) {
			case 'download':
				return <DownloadDialog {...props} {...dialog} directory={directory} onDownload={actions.download} />;
			case 'temporaryLink':
				return <TemporaryLinkDialog {...props} entry={dialog.entry} />;
			case 'share':
				return <ShareDialog {...props} entries={dialog.entries} onLoadFailed={onLoadFailed} />;
			case 'members':
				return <MembersDialog {...props} entry={dialog.entry} onLoadFailed={onLoadFailed} />;
			case 'leave':
				return <LeaveDialog {...props} entry={dialog.entry} onLoadFailed={onLoadFailed} />;
			case 'convert':
				return (
					<ConvertDialog
						{...props}
						area={dialog.area}
						videos={dialog.entries}
						onKept={actions.keepDialog}
						onConverted={(paths) => actions.showConverted(dialog.area, paths)}
						onContinue={(left) => actions.followConversions(dialog.area, left)}
						onLoadFailed={onLoadFailed}
					/>
				);
		}
	};
	const { question, answer, cancel } = actions.asking;
	const [asked, setAsked] = useState(false);
	if (question && !asked) setAsked(true);
	return (
		<>
			<FileDialogs
				dialog={actions.dialog}
				operations={actions.operations}
				area={area}
				owner={owner}
				onClose={actions.closeDialog}
				onClosed={onClosed}
				renderOther={renderOther}
			/>
			{asked && (
				<AlreadyThereDialog
					question={question}
					onAnswer={answer}
					onCancel={cancel}
					onClosed={onClosed}
					onLoadFailed={cancel}
				/>
			)}
		</>
	);
}
