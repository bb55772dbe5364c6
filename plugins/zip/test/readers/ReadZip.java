import java.security.MessageDigest;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HexFormat;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/** Reads an archive from a pipe, as many Android apps do, and prints each entry's name, as base64, and the SHA-256 of its content. */
class ReadZip {
	public static void main(String[] arguments) throws Exception {
		ZipInputStream zip = new ZipInputStream(System.in);
		byte[] buffer = new byte[1 << 16];
		for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			for (int length = zip.read(buffer); length >= 0; length = zip.read(buffer)) digest.update(buffer, 0, length);
			String name = Base64.getEncoder().encodeToString(entry.getName().getBytes(StandardCharsets.UTF_8));
			System.out.println(name + " " + HexFormat.of().formatHex(digest.digest()));
		}
	}
}
