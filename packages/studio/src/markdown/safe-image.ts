const dataImage = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
const maxDataLength = 3_000_000;

/**
 * Returns the address of an image that may be shown: raster data in the text itself, or a blob of this session. Nothing is
 * loaded from elsewhere, and SVG may contain more than a picture.
 */
export function parseSafeImage(href: string, sessionId: string | undefined): string | undefined {
  if (href.length <= maxDataLength && dataImage.test(href)) return href;
  if (sessionId === undefined) return undefined;
  const prefix = `/api/sessions/${encodeURIComponent(sessionId)}/blobs/`;
  const handle = href.startsWith(prefix) ? href.slice(prefix.length) : "";
  return /^[\w.~-]{1,200}$/.test(handle) && !/^\.+$/.test(handle) ? href : undefined;
}
