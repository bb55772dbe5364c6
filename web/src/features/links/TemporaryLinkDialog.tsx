import { Dialog, DialogBody, InputGroup, SegmentedControl } from '@blueprintjs/core';
import { EyeOffIcon, TimeIcon } from '@blueprintjs/icons';
import {
	defaultLinkExpiration,
	type Entry,
	formatDate,
	formatTime,
	type LinkExpiration,
	linkExpirationLabels,
	linkExpirations,
	shownName,
} from '@stowage/rules';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { usePublicOrigin } from '../../api/capabilities.js';
import { createLink, revokeMadeLink } from '../../api/links.js';
import { dialogMilliseconds } from '../../ui/dialogs/dialogs.js';
import { useTyping } from '../../ui/dialogs/useTyping.js';
import { LinkForm, MadeLinkFooter } from './LinkForm.js';
import { linkMessages as messages } from './messages.js';
import styles from './TemporaryLinkDialog.module.css';
import { useLinkToCopy } from './useLinkToCopy.js';
import { useMadeLink } from './useMadeLink.js';

export interface TemporaryLinkDialogProps {
	isOpen: boolean;
	entry: Entry;
	onClose: () => void;
	onClosed: () => void;
}

/** Asks for the expiration, creates the link and shows it this once, to be copied. */
export function TemporaryLinkDialog({ isOpen, entry, onClose, onClosed }: TemporaryLinkDialogProps) {
	const { expiration, setExpiration, generate, link, isLoading, error } = useTemporaryLink(entry, isOpen);
	const { hasTyped, onInput } = useTyping(isOpen && !link);
	return (
		<Dialog
			isOpen={isOpen}
			title={messages.temporaryLink}
			isCloseButtonShown={false}
			canOutsideClickClose={!hasTyped}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			onClosed={onClosed}
		>
			{link ? (
				<MadeLink name={entry.name} {...link} onClose={onClose} />
			) : (
				<LinkForm
					confirm={messages.generate}
					isBusy={isLoading}
					failure={error ? { title: messages.generateFailed, reason: error.message } : undefined}
					onConfirm={generate}
					onCancel={onClose}
				>
					<p className={styles.name}>{shownName(entry.name)}</p>
					<p className={styles.note}>{entry.type === 'directory' ? messages.leadFolder : messages.lead}</p>
					<div className={styles.label} aria-hidden="true">
						{messages.expiresIn}
					</div>
					<SegmentedControl
						aria-label={messages.expiresIn}
						className={styles.times}
						fill
						value={expiration}
						options={linkExpirations.map((value) => ({ value, label: linkExpirationLabels[value] }))}
						onValueChange={(value) => {
							setExpiration(value as LinkExpiration);
							onInput();
						}}
					/>
				</LinkForm>
			)}
		</Dialog>
	);
}

interface Made {
	url: string;
	expiresAt: number;
}

/** First the expiration is chosen, then the link is created. */
function useTemporaryLink({ path, name }: Entry, isOpen: boolean) {
	const origin = usePublicOrigin();
	const [expiration, setExpiration] = useState<LinkExpiration>(defaultLinkExpiration);
	const [link, setLink] = useState<Made>();
	const { mutate, isPending, error } = useMutation({
		mutationFn: () => createLink(path, expiration, origin),
		onSuccess: useMadeLink<Made>(
			isOpen,
			() => name,
			setLink,
			// Its address is shown this once, so a link that nobody has seen is of no use to anybody.
			({ expiresAt }) => revokeMadeLink(path, expiresAt),
		),
	});
	return { expiration, setExpiration, generate: () => mutate(), link, isLoading: isPending, error };
}

interface MadeLinkProps {
	name: string;
	url: string;
	expiresAt: number;
	onClose: () => void;
}

function MadeLink({ name, url, expiresAt, onClose }: MadeLinkProps) {
	const { field, button, copy, outcome } = useLinkToCopy(url);
	return (
		<>
			<DialogBody>
				<p className={styles.name}>{shownName(name)}</p>
				<InputGroup
					className={styles.link}
					inputRef={field}
					aria-label={messages.link}
					readOnly
					value={url}
					onFocus={(event) => event.currentTarget.select()}
				/>
				<p className={styles.note}>
					<TimeIcon size={14} />
					{messages.expires(formatDate(expiresAt), formatTime(expiresAt))}
				</p>
				<p className={styles.note}>
					<EyeOffIcon size={14} />
					{messages.onlyNow}
				</p>
				{outcome}
			</DialogBody>
			<MadeLinkFooter copyButton={button} onCopy={copy} onClose={onClose} />
		</>
	);
}
