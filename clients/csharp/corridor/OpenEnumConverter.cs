#nullable enable

using System;
using Newtonsoft.Json;
using Newtonsoft.Json.Converters;

namespace Corridor;

/// <summary>Reads a value that a later version adds to an enumeration as 0, which is none of its names.</summary>
public sealed class OpenEnumConverter : StringEnumConverter
{
    /// <inheritdoc/>
    public override object? ReadJson(JsonReader reader, Type objectType, object? existingValue, JsonSerializer serializer)
    {
        try
        {
            return base.ReadJson(reader, objectType, existingValue, serializer);
        }
        catch (JsonSerializationException) when (reader.TokenType == JsonToken.String)
        {
            return Enum.ToObject(Nullable.GetUnderlyingType(objectType) ?? objectType, 0);
        }
    }
}
