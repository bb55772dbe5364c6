import { Dialog, DialogBody, InputGroup } from '@blueprintjs/core';
import { EyeOpenIcon, TimeIcon } from '@blueprintjs/icons';
import { type Entry, formatDate, formatTime, shownName } from '@stowage/rules';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { serverNow } from '../../../api/client/serverClock.js';
import { createShare, type Share, useShareLimits } from '../../../api/shares.js';
import { dialogMilliseconds } from '../../../ui/dialogs/dialogs.js';
import { useTyping } from '../../../ui/dialogs/useTyping.js';
import { QrCode } from '../../../ui/display/QrCode.js';
import { LinkForm, MadeLinkFooter } from '../LinkForm.js';
import { useLinkToCopy } from '../useLinkToCopy.js';
import { useMadeLink } from '../useMadeLink.js';
import { shareMessages as messages } from './messages.js';
import styles from './ShareDialog.module.css';
import { ShareFields } from './ShareFields.js';
import { type FormProblem, newShareForm, newShareOf } from './shareForm.js';
import { shareName } from './shareName.js';

export interface ShareDialogProps {
	isOpen: boolean;
	entries: readonly Entry[];
	onClose: () => void;
	onClosed: () => void;
}

/** Asks what others may do with these items of the private area and for how long, makes the share, and shows its link. */
export function ShareDialog({ isOpen, entries, onClose, onClosed }: ShareDialogProps) {
	const [made, setMade] = useState<Share>();
	const { hasTyped, onInput } = useTyping(isOpen && !made);
	const onMade = useMadeLink<Share>(isOpen, shareName, setMade);
	return (
		<Dialog
			isOpen={isOpen}
			className={styles.dialog ?? ''}
			title={messages.share}
			isCloseButtonShown={false}
			canOutsideClickClose={!hasTyped}
			transitionDuration={dialogMilliseconds}
			onClose={onClose}
			onClosed={onClosed}
		>
			{made ? (
				<MadeShare share={made} url={made.url ?? ''} onClose={onClose} />
			) : (
				<NewShareForm entries={entries} onInput={onInput} onMade={onMade} onClose={onClose} />
			)}
		</Dialog>
	);
}

interface NewShareFormProps {
	entries: readonly Entry[];
	onInput: () => void;
	onMade: (share: Share) => void;
	onClose: () => void;
}

function NewShareForm({ entries, onInput, onMade, onClose }: NewShareFormProps) {
	const limits = useShareLimits();
	const [form, setForm] = useState(newShareForm);
	const [problem, setProblem] = useState<FormProblem>();
	const { mutate, isPending, error } = useMutation({ mutationFn: createShare, onSuccess: onMade });
	function submit() {
		const paths = entries.map(({ path }) => path);
		const share = newShareOf(form, paths, { requirePassword: limits?.requirePassword ?? false }, serverNow());
		setProblem('problem' in share ? share : undefined);
		if (!('problem' in share)) mutate(share);
	}
	const [first] = entries;
	return (
		<LinkForm
			confirm={messages.create}
			isBusy={isPending}
			failure={error && !problem ? { title: messages.createFailed, reason: error.message } : undefined}
			onConfirm={submit}
			onCancel={onClose}
			onInput={onInput}
		>
			<ul className={styles.names}>
				{entries.slice(0, 5).map(({ path, name }) => (
					<li key={path}>{shownName(name)}</li>
				))}
				{entries.length > 5 && <li>{messages.more(entries.length - 5)}</li>}
			</ul>
			<p className={styles.note}>{messages.lead}</p>
			<ShareFields
				form={form}
				onChange={(changes) => setForm({ ...form, ...changes })}
				mayReceive={entries.length === 1 && first?.type === 'directory'}
				limits={limits}
				problem={problem}
			/>
		</LinkForm>
	);
}

function MadeShare({ share, url, onClose }: { share: Share; url: string; onClose: () => void }) {
	const { expiresAt } = share;
	const { field, button, copy, outcome } = useLinkToCopy(url);
	return (
		<>
			<DialogBody>
				<p className={styles.name}>{shareName(share)}</p>
				<div className={styles.made}>
					<QrCode text={url} label={messages.qrCode} />
					<div className={styles.link}>
						<InputGroup
							inputRef={field}
							aria-label={messages.link}
							readOnly
							value={url}
							onFocus={(event) => event.currentTarget.select()}
						/>
						<p className={styles.note}>
							<TimeIcon size={14} />
							{expiresAt === null ? messages.never : messages.expiresAt(formatDate(expiresAt), formatTime(expiresAt))}
						</p>
						<p className={styles.note}>
							<EyeOpenIcon size={14} />
							{messages.findAgain}
						</p>
						{outcome}
					</div>
				</div>
			</DialogBody>
			<MadeLinkFooter page={url} copyButton={button} onCopy={copy} onClose={onClose} />
		</>
	);
}
